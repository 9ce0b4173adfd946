import type { CaptureOff } from "../../model/change/capture-off.ts";
import type { Action, ClaimedChange } from "../../model/change/change.ts";
import type { RequestRefusal } from "../../model/change/refusal.ts";
import type { DescribedObject } from "../../model/mapping/describe.ts";
import type { Mapping } from "../../model/mapping/mapping.ts";
import type { TableShape } from "../../model/mapping/shape.ts";
import type { CsvLine } from "../../model/record/csv-line.ts";
import type { Lane } from "../../model/record/judge-image.ts";
import type { Image, Operation, OutgoingRecord, RecordResult } from "../../model/record/record.ts";

export type { ClaimedChange, Image, Operation, OutgoingRecord, RecordResult, RequestRefusal };

/** Which of a mapping's two leases: the beat's, or that of the long work which runs beside it. */
export type Work = "cycle" | "load";

/** The right to run one mapping's cycle. Every transaction of the cycle checks fence and config version. */
export interface Lease {
  readonly mappingId: string;
  readonly work: Work;
  readonly fence: number;
  readonly configVersion: number;
}

/** The lease went to another cycle, or the mapping's configuration changed: what was asked has not happened. */
export class LeaseLost extends Error {
  constructor(lease: Lease) {
    super(`the ${lease.work} of mapping ${lease.mappingId} has lost its lease (fence ${lease.fence})`);
    this.name = "LeaseLost";
  }
}

export interface BeginRequest {
  readonly mappingId: string;
  readonly work: Work;
  readonly configVersion: number;
  /** Names the invocation, for the operator who reads `_bridge_state`. */
  readonly owner: string;
  /** Epoch seconds; null takes the lease whatever the last slot was (poll, pull). */
  readonly slot: number | null;
  readonly leaseSeconds: number;
}

/** Where the pulls stand; all are the org's time. */
export interface Marks {
  /** Fast lane: every record stamped before it is in the table; null before the first load has ended. */
  readonly position: Date | null;
  /** When the late-commit lane last ran. */
  readonly slow: Date | null;
  /** getDeleted's `latestDateCovered`. */
  readonly deleted: Date | null;
  /** Unfinished long work, by which any later invocation takes it up; null: none is under way. */
  readonly load: LoadMark | null;
}

/** How far long work has come. */
export interface LoadMark {
  /** A first load; a backfill of columns that were added; a comparison of both sides, whole. */
  readonly kind: "load" | "backfill" | "sweep";
  /** The org's time before the first page: what changed since is the fast lane's. */
  readonly startedAt: Date;
  /** Read by REST in the order of ids: the last one that is in the table; null before the first page. */
  readonly afterId: string | null;
  /** Read by the Bulk API: the job, and the place in its results (null: their beginning). Null: read by REST. */
  readonly bulk: { readonly jobId: string; readonly locator: string | null } | null;
  /** The second half, which looks for rows without a record: the last row's `id`. Null: the first half. */
  readonly afterRow: number | null;
  /** A first load that began over rows of before: of a mapping that was restored, or of a table that was adopted. */
  readonly overRows?: true;
  /** Records that the org counted before the first page; left out before it was asked. */
  readonly records?: number;
  /** Jobs of the Bulk API that this reading has lost: failed, aborted or expired. Left out: none. */
  readonly failedJobs?: number;
}

export type Begun =
  | {
      readonly held: true;
      readonly lease: Lease;
      readonly shape: TableShape;
      /** Why changes of the table are not captured; then nothing may touch the table. Null: they are. */
      readonly captureOff: CaptureOff | null;
      readonly marks: Marks;
      /** The org's time of the last finished pull; null: never. */
      readonly lastPullAt: Date | null;
      /** What the cycle has to do, so that an idle one asks nothing more. */
      readonly waiting: { readonly changes: boolean; readonly unfinished: boolean; readonly outbox: boolean };
      /** Deletes that the breaker holds until an operator confirms them, on both sides. */
      readonly heldDeletes: number;
      /** Records to read again by Id, because their rows were held when they were to be written; at most 200. */
      readonly rereads: readonly string[];
    }
  | { readonly held: false; readonly why: "slot taken" | "running" | "config changed" | "not provisioned" };

/** One record's write that was sent by a cycle that never told its end. */
export interface Doubt {
  /** The changes that were folded into it, in log order. */
  readonly changes: readonly ClaimedChange[];
  readonly sentAt: Date;
  readonly batchId: string;
}

/** Writes that earlier cycles sent without learning their end. */
export interface Recovered {
  readonly doubts: readonly Doubt[];
  /** Jobs of the Bulk API that may still be at work, oldest first; `doubtsIn` tells their writes. */
  readonly jobs: readonly { readonly batchId: string; readonly sentAt: Date; readonly lookedAt: Date }[];
}

/** What Salesforce said about one folded write, for all the changes that it stands for. */
export type PushOutcome = { readonly changeIds: readonly number[]; readonly recordId: number } & (
  | { readonly kind: "accepted"; readonly action: Action; readonly sfid: string | null; readonly answeredAt: Date }
  /** Folded away (inserted and deleted before it was sent, an echo …): nothing was sent, nothing is owed. */
  | { readonly kind: "settled" }
  /** `error` is `STATUS_CODE: message [fields]`. */
  | { readonly kind: "refused"; readonly action: Action; readonly error: string }
  /** Back to NEW, not before `afterSeconds`; `counts`: whether it is one of the five attempts. */
  | { readonly kind: "retry"; readonly afterSeconds: number; readonly counts: boolean; readonly error: string }
);

/** A save that Salesforce accepted, and that nobody had the right to make any more. */
export interface LateSave {
  readonly changeIds: readonly number[];
  readonly recordId: number;
  readonly sfid: string | null;
  readonly answeredAt: Date;
}

export interface Page {
  readonly images: readonly Image[];
  /** `Date` of the answer that held them (Bulk: of the job's creation). */
  readonly readAt: Date;
  /** `deleted`: ids from getDeleted; `outside`: records outside of the filter. Their images are without values. */
  readonly lane: Lane;
  /** Marks to commit with the rows. */
  readonly marks: Partial<Marks>;
  /** Their creators were asked for: none is an insert of ours that is in doubt. */
  readonly areStrangers?: true;
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
   * Records without a row that may be inserts of ours in doubt, sent between these times, whoever has changed them since:
   * held back until their creator was asked for.
   */
  readonly suspects: {
    readonly sfids: readonly string[];
    readonly firstSentAt: Date;
    readonly lastSentAt: Date;
  } | null;
}

/**
 * Totals since the mapping's beginning; they only rise. `queueDepth` is the workspace's rows in NEW, now, and
 * `oldestWaitingSeconds` the age of the oldest that waits and is not held, 0 when there is none.
 */
export interface Totals {
  readonly rowsSynced: number;
  readonly rowsFailed: number;
  readonly apiCalls: Readonly<Record<string, number>>;
  readonly queueDepth: number;
  readonly oldestWaitingSeconds: number;
}

/** `lost`: another cycle holds it or the config changed; `aborted`: somebody asked this cycle to stop. */
export type Renewal = "held" | "lost" | "aborted";

/** What the end of a cycle finds. */
export interface Finished extends Totals {
  /** Events of rows wait to be told, whatever made them. */
  readonly outboxWaits: boolean;
  /** How many rows have refused to be told what became of their changes, and the SQLSTATE of one. */
  readonly untold: { readonly rows: number; readonly sqlState: string | null };
}

export interface OutboxEvent {
  readonly id: string;
  readonly event: "record.failed" | "sync.failure_spike";
  readonly occurredAt: Date;
  readonly detail: Readonly<Record<string, unknown>>;
}

/**
 * One mapping's side of the customer's database, on one connection, for the time of one cycle. Every wait ends within
 * the deadline of 15 s. What asks for a lease throws `LeaseLost` when it is gone; `settle` alone still takes results
 * after a change of configuration, because they tell what Salesforce has done.
 */
export interface CycleStore {
  /** Takes the lease; one round trip. */
  begin(request: BeginRequest): Promise<Begun>;
  renew(lease: Lease, leaseSeconds: number): Promise<Renewal>;
  /** Goes on over another connection where this one is of no use any more. */
  reconnect(): Promise<void>;
  /** PENDING changes of other fences: those never marked sent go back to NEW, the others are told. */
  recover(lease: Lease): Promise<Recovered>;
  /** What is still in doubt of one batch, from now on this lease's to settle. */
  doubtsIn(lease: Lease, batchId: string): Promise<readonly Doubt[]>;
  /** Remembers that a job was looked after just now. */
  noteLook(lease: Lease, batchId: string): Promise<void>;
  /**
   * NEW changes that are due, in log order, as PENDING. Changes of one record are claimed together or not at all, and with
   * them the older FAILED ones, which stay FAILED unless the write that they share is accepted, and of which nothing is told
   * again. What is PENDING holds back its record, and later changes with its sfid or upsert value.
   */
  claim(lease: Lease, limit: number): Promise<readonly ClaimedChange[]>;
  /**
   * Before the call: from here on these changes are in doubt until settled. With `leaseSeconds` the same round trip
   * renews the lease, and nothing is marked where that does not answer `held`.
   */
  markSent(lease: Lease, batchId: string, changeIds: readonly number[], leaseSeconds?: number): Promise<Renewal>;
  /** States, sfids, `_ab_lastop`, `_ab_err`, totals and outbox events of a batch, in one transaction. */
  settle(lease: Lease, outcomes: readonly PushOutcome[]): Promise<void>;
  /**
   * After `LeaseLost`: what others have sent since of the same fields of these records is NEW again, because these saves
   * may have undone it. `underWay` is what others are sending just now.
   */
  sendAgain(lease: Lease, saves: readonly LateSave[]): Promise<{ readonly again: number; readonly underWay: number }>;
  /** Gives claimed, unsent changes back. */
  release(lease: Lease, changeIds: readonly number[]): Promise<void>;
  /** One page of records becomes rows, in one transaction (design section 5, Pull). */
  apply(lease: Lease, page: Page): Promise<Applied>;
  /** Waits no longer for records that could not become rows, and that Salesforce does not know any more. */
  forgetGone(lease: Lease, sfids: readonly string[]): Promise<void>;
  /** Which of these records no row holds at this stamp or a later one, nor a waiting DELETE or a tombstone explains. */
  unseen(mappingId: string, stamps: readonly RecordStamp[]): Promise<readonly string[]>;
  /** Which of these sfids a row owns. */
  owned(mappingId: string, sfids: readonly string[]): Promise<readonly string[]>;
  /** Which of these sfids a row owns, or an answer to one of our saves has told. */
  told(mappingId: string, sfids: readonly string[]): Promise<readonly string[]>;
  /** Rows that have an sfid, in the order of their `id` after `afterRow`. */
  rowsAfter(lease: Lease, afterRow: number, limit: number): Promise<readonly OwnedRecord[]>;
  /** Where the pulls of these mappings stand, for the workspace's probe; one round trip, unprovisioned ones left out. */
  pulses(mappingIds: readonly string[]): Promise<readonly Pulse[]>;
  /** Commits marks, calls and the cycle's end, reports a spike, releases the lease; one round trip. */
  finish(lease: Lease, end: CycleEnd): Promise<Finished>;
  /** Counts calls that were made for a mapping without its lease. */
  addCalls(mappingId: string, apiCalls: Readonly<Record<string, number>>): Promise<void>;
  /**
   * Events that wait to leave, oldest first, fewer than `limit` where they are large; `forget` ends them once they are in
   * the service's own store, `setAside` moves one that this never takes to `_bridge_outbox_aside`.
   */
  outbox(limit: number): Promise<readonly OutboxEvent[]>;
  forget(eventIds: readonly string[]): Promise<void>;
  setAside(eventId: string, reason: string): Promise<void>;
  close(): Promise<void>;
}

/** A row and the record that it stands for. */
export interface OwnedRecord {
  readonly recordId: number;
  readonly sfid: string;
}

export interface RecordStamp {
  readonly sfid: string;
  readonly systemModstamp: Date;
}

export interface Pulse {
  readonly mappingId: string;
  readonly shape: TableShape;
  readonly position: Date | null;
  readonly lastPullAt: Date | null;
}

export interface CycleEnd {
  readonly marks: Partial<Marks>;
  readonly pulledAt: Date | null;
  /** A probe at this time (the org's) saw nothing new of these mappings, which is as good as a pull. */
  readonly unchanged?: { readonly mappingIds: readonly string[]; readonly at: Date } | null;
  readonly apiCalls: Readonly<Record<string, number>>;
  /** Null: it went well. */
  readonly error: string | null;
  /** What its minute's count gains; left out: nothing. */
  readonly count?: CycleCount;
}

/** What a cycle, or a piece of long work, adds to the count of the minute in which it ends. */
export interface CycleCount {
  /** Null: it was no cycle. */
  readonly ended: "well" | "failed" | "stopped" | null;
  /** Rows that were inserted, updated and deleted for records. */
  readonly pulled: number;
  /** Changes that Salesforce has taken and refused. */
  readonly accepted: number;
  readonly refused: number;
}

/** Tables, triggers and metadata of a mapping, made and kept. */
export interface Provisioner {
  /** Makes or changes schema, metadata tables, table, columns, indexes and triggers for this version; repeatable; refuses with a `Failure` that names the remedy. */
  provision(
    mapping: Mapping,
    shape: TableShape,
  ): Promise<{
    readonly created: boolean;
    readonly addedColumns: readonly string[];
    /** False: rows that are marked to be captured are left; provision again. */
    readonly isCaptured: boolean;
    /** Columns that could not follow a field that has grown, and why. */
    readonly narrow: readonly { readonly column: string; readonly type: string; readonly reason: string }[];
  }>;
  /** Brings the metadata tables of the mapping's workspace to this version; those of a newer one stay as they are. */
  migrate(mapping: Mapping): Promise<void>;
  /** Ends capture and forgets the mapping's state; table and rows stay. */
  retire(mapping: Mapping): Promise<void>;
}

/** What one SOQL query gave. */
export interface QueryPage {
  readonly records: readonly Readonly<Record<string, unknown>>[];
  /** Whether these are all that match (and fit the query's LIMIT). */
  readonly complete: boolean;
  /** The answer's `Date`: the org's time. */
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

/** A part of a Bulk query's results. */
export interface BulkPart {
  readonly pieces: AsyncIterable<BulkPiece>;
  /** Where the next part begins; null: this is the last. */
  readonly next: string | null;
}

/** A job of the Bulk API 2.0 that saves records, as it stands. */
export interface BulkSave {
  /** `open`: it was never started; `gone`: the org knows it no more. */
  readonly state: "open" | "working" | "complete" | "failed" | "aborted" | "gone";
  readonly processed: number;
  /** Of the processed ones. */
  readonly failed: number;
  /** Why it failed as a whole; empty when it did not. */
  readonly message: string;
  /** The org's time of this answer. */
  readonly at: Date;
}

/** Which of a job's records a file of results holds: each with its `sf__Id` or `sf__Error`, and what was uploaded. */
export type SavedKind = "successful" | "failed" | "unprocessed";

/** Jobs of the Bulk API 2.0 that save records. Nothing is saved until a job is started, and no job is started twice. */
export interface BulkSaves {
  openBulkSave(operation: Operation, object: string, externalIdField: string | null): Promise<string>;
  /** Uploads the job's records, all of the same fields, as they are written. */
  uploadBulkSave(jobId: string, records: readonly OutgoingRecord[]): Promise<void>;
  startBulkSave(jobId: string): Promise<void>;
  abortBulkSave(jobId: string): Promise<void>;
  lookAtBulkSave(jobId: string): Promise<BulkSave>;
  /** One file of results, in no order, in batches of some thousand as they arrive. */
  bulkSaved(jobId: string, kind: SavedKind): Promise<AsyncIterable<readonly CsvLine[]>>;
}

/** The records of one piece of an answer, a line each, and how long the piece was. */
export interface BulkPiece {
  readonly lines: readonly CsvLine[];
  readonly characters: number;
}

/** The connected org. Every HTTP request is counted once under its label; refusals are thrown as `SalesforceRefusal`. */
export interface Salesforce extends BulkSaves {
  query(soql: string): Promise<QueryPage>;
  /** Up to five queries as one counted call; each answers its first page or its refusal. */
  queryTogether(soqls: readonly string[]): Promise<readonly (QueryPage | RequestRefusal)[]>;
  /** At most 200 records by SOAP, results in their order. */
  write(
    operation: Operation,
    object: string,
    records: readonly OutgoingRecord[],
    externalIdField: string | null,
  ): Promise<{ readonly answeredAt: Date; readonly results: readonly RecordResult[] }>;
  deleted(object: string, from: Date, until: Date): Promise<DeletedRecords>;
  /** How many records there are. */
  count(soql: string): Promise<{ readonly records: number; readonly readAt: Date }>;
  /** Starts a query of the Bulk API 2.0; it reads what is there from then on. */
  startBulkQuery(soql: string): Promise<{ readonly jobId: string; readonly readAt: Date }>;
  /** Whether its results are there yet. Rejects with a `bug` refusal once it has failed or was aborted. */
  isBulkQueryDone(jobId: string): Promise<boolean>;
  /** One part of its results, as its pieces arrive. */
  bulkResults(jobId: string, locator: string | null): Promise<BulkPart>;
  /** The object's description (describeSObject), as Salesforce tells it. */
  describe(object: string): Promise<DescribedObject>;
  /** Counted calls by label since this client was made. */
  calls(): Readonly<Record<string, number>>;
  /** The org's own count of the last 24 hours, as the last answer told it; null before the first. */
  usage(): { readonly used: number; readonly limit: number } | null;
}
