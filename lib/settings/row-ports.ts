import type { Action, State } from "../model/change.ts";
import type { Span } from "../model/span.ts";
import type { PostgresConnection } from "../model/workspace.ts";
import type { Page } from "../monitoring/ports.ts";

/** What the settings area asks of a customer's database about rows. Rejects with `DatabaseUnavailable`. */
export interface RowDesks {
  open(postgres: PostgresConnection): Promise<RowDesk>;
}

/** One customer's database, for one request. A schema that nothing was provisioned in yet answers like an empty one. */
export interface RowDesk extends AsyncDisposable {
  /** How far every mapping of the schema is. */
  progress(): Promise<readonly MappingProgress[]>;
  /** Seconds from a change's capture to Salesforce's word, over the mapping's last 1,000; null before the first. */
  lag(mappingId: string): Promise<Lag | null>;
  /** What Salesforce said of changes in that time, by step, oldest first, among the latest 100,000 changes; and how cycles ended. */
  throughput(span: Span): Promise<Throughput>;
  /** One change of the trigger log with all that is known of it; null: there is none, or not any more. */
  change(id: number): Promise<ChangeStory | null>;
  /** Rows of the mapping's table, counted up to a million. */
  countRows(mappingId: string): Promise<number>;
  /** Failed changes by kind, the most frequent first, among the latest 100,000; null is every table. */
  failures(table: string | null): Promise<readonly FailureKind[]>;
  /** Failed changes that can be tried again, at most `limit`, oldest first; one that a newer state of its row has overruled cannot. */
  findFailed(which: FailedChanges, limit: number): Promise<FoundFailed>;
  /** Makes them wait again; how many. */
  retry(mappingId: string, logIds: readonly number[]): Promise<number>;
  inboundErrors(mappingId: string | null, slice: Slice): Promise<Page<InboundError>>;
  conflicts(mappingId: string | null, slice: Slice): Promise<Page<Conflict>>;
  /** Deletes that the breaker holds back on either side, longest first. */
  heldDeletes(mappingId: string, slice: Slice): Promise<Page<HeldDelete>>;
  /** Lets deletes go that the breaker holds back on either side, about as many as `most`; how many. */
  confirmDeletes(mappingId: string, most: number): Promise<number>;
  /** Makes every record be read again; false: the mapping is not provisioned. A running cycle loses its lease. */
  startOver(mappingId: string): Promise<boolean>;
  /**
   * Marks all rows to be captured as changed, which provisioning does; false: the mapping is not provisioned. Until that
   * has ended no cycle begins, and a running one loses its lease.
   */
  captureAll(mappingId: string): Promise<boolean>;
  /** Captures rows that no record stands for as if they were inserted now, at most `limit`. */
  captureExisting(mappingId: string, limit: number): Promise<number>;
}

interface Slice {
  readonly limit: number;
  readonly offset: number;
}

export interface MappingProgress {
  readonly mappingId: string;
  /** The first load has ended. */
  readonly loaded: boolean;
  /** Records that the org counted when the first load that goes on began; null: none goes on, or it has not asked yet. */
  readonly recordsToLoad: number | null;
  readonly lastPullAt: Date | null;
  readonly lastRunAt: Date | null;
  readonly rowsSynced: number;
  readonly apiCalls: Readonly<Record<string, number>>;
  /** Changes that wait or are being sent. */
  readonly waiting: number;
  /** When the oldest of them was captured; null: none waits. */
  readonly oldestWaitingAt: Date | null;
  /** Changes that Salesforce refused, as the totals have them. */
  readonly failed: number;
  readonly heldDeletes: number;
  readonly inboundErrors: number;
}

export interface Lag {
  readonly p50: number;
  readonly p95: number;
}

/** How the cycles of a mapping ended that ended in one step, and what they moved; what long work has read is in it. */
export interface CycleStep {
  readonly mappingId: string;
  readonly at: Date;
  readonly well: number;
  readonly failed: number;
  readonly stopped: number;
  /** Rows inserted, updated and deleted for records. */
  readonly pulled: number;
  readonly accepted: number;
  readonly refused: number;
}

/** Answered changes by mapping and step. */
export interface Throughput {
  readonly steps: readonly {
    readonly mappingId: string;
    readonly at: Date;
    readonly accepted: number;
    readonly refused: number;
  }[];
  /** From a change's capture to Salesforce's word, by mapping. */
  readonly lags: ReadonlyMap<string, Lag>;
  /** Older changes of the time were not looked at, for there are more than 100,000 later ones. */
  readonly isCut: boolean;
  readonly cycles: readonly CycleStep[];
  /** From when on cycles are counted; null: the schema counts none yet. */
  readonly cyclesFrom: Date | null;
}

/** A change as the trigger log has it: what was captured, and what became of it. */
export interface ChangeStory {
  readonly id: number;
  readonly tableName: string;
  readonly recordId: number;
  readonly sfid: string | null;
  readonly action: Action;
  readonly state: State;
  /** The columns' values before, those that changed; null for an insert. */
  readonly old: Readonly<Record<string, string | null>> | null;
  readonly values: Readonly<Record<string, string | null>> | null;
  readonly createdAt: Date;
  readonly sentAt: Date | null;
  readonly processedAt: Date | null;
  /** Attempts that counted; a change is given up after five. */
  readonly attempts: number;
  /** Not sent before; null: as soon as can be. */
  readonly dueAt: Date | null;
  readonly message: string | null;
  /** Held back by the delete breaker. */
  readonly isHeld: boolean;
  /** A newer state of its row has overruled it: it is not tried again. */
  readonly isSuperseded: boolean;
}

/** Failed changes of one table and action whose errors differ in nothing but names, numbers and ids. */
export interface FailureKind {
  readonly fingerprint: string;
  readonly tableName: string;
  readonly action: Action;
  readonly sample: string;
  readonly count: number;
  readonly lastAt: Date;
}

export interface FailedChanges {
  /** Trigger-log id. */
  readonly id: number | null;
  readonly fingerprint: string | null;
  readonly table: string | null;
}

/** Trigger-log ids by mapping, and how many there are in all. */
export interface FoundFailed {
  readonly total: number;
  readonly idsByMapping: ReadonlyMap<string, readonly number[]>;
}

export interface Retried {
  readonly retried: number;
  /** Failed changes of this kind that could be retried and were not, because of the limit. */
  readonly remaining: number;
}

export interface InboundError {
  readonly mappingId: string;
  readonly sfid: string;
  readonly error: string;
  readonly attempts: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** A delete that waits for somebody's word. */
export interface HeldDelete {
  /** What would be deleted: the row, because its record was; or the record, because its row was. */
  readonly deletes: "row" | "record";
  readonly sfid: string | null;
  /** The row's key; null where the row is known by its sfid alone. */
  readonly recordId: number | null;
  readonly at: Date;
}

export interface Conflict {
  readonly id: number;
  readonly mappingId: string;
  readonly sfid: string;
  readonly recordId: number;
  /** Column; null: the whole record. */
  readonly field: string | null;
  readonly base: string | null;
  readonly postgres: string | null;
  readonly salesforce: string | null;
  readonly winner: string;
  readonly at: Date;
}
