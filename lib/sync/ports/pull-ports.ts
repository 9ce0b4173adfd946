import type { RequestRefusal } from "../../model/change/refusal.ts";
import type { TableShape } from "../../model/mapping/shape.ts";
import type { DryRun, Met } from "../../model/record/dry-run.ts";
import type { Lane } from "../../model/record/judge-image.ts";
import type { Image } from "../../model/record/record.ts";
import type { Lease, Watermarks } from "./lease-ports.ts";

export interface Page {
  readonly images: readonly Image[];
  /** `Date` of the answer that held them (Bulk: of the job's creation). */
  readonly readAt: Date;
  /** `deleted`: ids from getDeleted; `outside`: records outside of the filter. Their images are without values. */
  readonly lane: Lane;
  /** Marks to commit with the rows. */
  readonly marks: Partial<Watermarks>;
  /** Their creators were asked for: none is an insert of ours that is in doubt. */
  readonly areStrangers?: true;
  /** Its changes to rows are kept in their history; never of a first load, which has no earlier values. */
  readonly keepsHistory?: boolean;
}

export interface Applied {
  readonly inserted: number;
  readonly updated: number;
  readonly deleted: number;
  /** Equal images: our own echo, or nothing that is mapped. */
  readonly unchanged: number;
  /** Records whose image is older than our last push of them: to be read again by Id. */
  readonly reread: readonly string[];
  /** Rows kept in `_bridge_inbound_errors`; those of them that a transaction of the customer held. */
  readonly rejected: number;
  readonly busy: number;
  readonly conflicts: number;
  /** Deletes that the breaker holds. */
  readonly heldDeletes: number;
  /**
   * Records without a row that may be inserts of ours in doubt, sent between these times, even if another user has
   * changed them since: held back until their creator is known.
   */
  readonly suspects: {
    readonly sfids: readonly string[];
    readonly firstSentAt: Date;
    readonly lastSentAt: Date;
  } | null;
}

export interface RecordStamp {
  readonly sfid: string;
  readonly systemModstamp: Date;
}

export interface Pulse {
  readonly mappingId: string;
  readonly shape: TableShape;
  readonly marks: Watermarks;
  readonly lastPullAt: Date | null;
}

/** What one SOQL query gave. */
export interface QueryPage {
  readonly records: readonly Readonly<Record<string, unknown>>[];
  /** Whether these are all that match (and fit the query's LIMIT). */
  readonly complete: boolean;
  /** The org's time when it was asked. */
  readonly readAt: Date;
}

/** Salesforce's getDeleted: what was deleted in a window, hard deletes too. */
export interface DeletedRecords {
  readonly records: readonly { readonly id: string; readonly deletedAt: Date }[];
  /** From where the next window starts. */
  readonly latestDateCovered: Date;
  readonly earliestDateAvailable: Date;
  readonly readAt: Date;
}

/** A window of getDeleted, by the org's time. */
export interface DeletedWindow {
  readonly object: string;
  readonly from: Date;
  readonly until: Date;
}

/** Records on their way to rows, and what the rows know of them. */
export interface PullStore {
  /** One page of records becomes rows, in one or several transactions; its marks are committed with the last. */
  apply(lease: Lease, page: Page): Promise<Applied>;
  /** Waits no longer for records that could not become rows, and that Salesforce does not know any more. */
  forgetGone(lease: Lease, sfids: readonly string[]): Promise<void>;
  /** Which of these records no row holds at this stamp or a later one, nor a waiting DELETE or a tombstone explains. */
  unseen(mappingId: string, stamps: readonly RecordStamp[]): Promise<readonly string[]>;
  /** Which of these sfids a row owns. */
  owned(mappingId: string, sfids: readonly string[]): Promise<readonly string[]>;
  /** Which of these sfids a row owns, or an answer to one of our saves has named. */
  knownSfids(mappingId: string, sfids: readonly string[]): Promise<readonly string[]>;
  /**
   * The watermarks of these mappings' pulls, for the workspace's probe; one round trip, unprovisioned ones left out.
   */
  pulses(mappingIds: readonly string[]): Promise<readonly Pulse[]>;
}

/** Comparisons of rows and records that have not met yet. */
export interface DryRuns {
  /** The rows that these records would meet for the first time; changes nothing. */
  compare(lease: Lease, images: readonly Image[]): Promise<readonly Met[]>;
  /** Rows that may still meet a record for the first time, counted up to `most`. */
  countUnmatched(lease: Lease, most: number): Promise<number>;
  /** The mapping's last dry run; null: it had none. */
  dryRun(lease: Lease): Promise<DryRun | null>;
  /** Begins one in place of the last, whose confirmation stays. */
  beginDryRun(lease: Lease, run: DryRun): Promise<DryRun>;
  saveDryRun(lease: Lease, run: DryRun): Promise<void>;
  /** Stores in the dry run why it stopped. */
  failDryRun(mappingId: string, error: string): Promise<void>;
}

/** How records are read; the last argument says how many milliseconds the answer may take, 15 s if it is left out. */
export interface Queries {
  query(soql: string, milliseconds?: number): Promise<QueryPage>;
  /** Up to five queries as one counted call; each answers its first page or its refusal. */
  queryTogether(soqls: readonly string[], milliseconds?: number): Promise<readonly (QueryPage | RequestRefusal)[]>;
  /** The same with up to twenty windows of getDeleted. */
  askTogether(
    soqls: readonly string[],
    windows: readonly DeletedWindow[],
    milliseconds?: number,
  ): Promise<{
    readonly pages: readonly (QueryPage | RequestRefusal)[];
    readonly deleted: readonly (DeletedRecords | RequestRefusal)[];
  }>;
  deleted(object: string, from: Date, until: Date, milliseconds?: number): Promise<DeletedRecords>;
  /** About how many living records the object has, from Salesforce's own statistics; null: it does not say. */
  recordCount(object: string): Promise<number | null>;
}
