import { type CaptureOff, HIDDEN_REMEDY, hiddenRows } from "../../model/change/capture-off.ts";
import { Failure } from "../../model/failure.ts";
import type { TableShape } from "../../model/mapping/shape.ts";
import type { Keyset } from "../../model/mapping/soql.ts";
import type { ReadSize } from "../../model/record/read-size.ts";
import type { LoadCheckpoint } from "./load-ports.ts";

/** Which of a mapping's two leases: the beat's, or that of the long work which runs beside it. */
export type Work = "cycle" | "load";

/** The right to run one mapping's cycle. Every transaction of the cycle checks fence and config version. */
export interface Lease {
  readonly mappingId: string;
  readonly work: Work;
  readonly fence: number;
  /** Names the invocation: after a restore of the database an older cycle may hold the same fence. */
  readonly owner: string;
  readonly configVersion: number;
}

/** The lease went to another cycle, or the mapping's configuration changed: what was asked has not happened. */
export class LeaseLost extends Error {
  constructor(lease: Lease) {
    super(`the ${lease.work} of mapping ${lease.mappingId} has lost its lease (fence ${lease.fence})`);
    this.name = "LeaseLost";
  }
}

/** PostgreSQL has run a write and the table does not hold it, though the lease is ours: the same would be done again for ever. */
export class WriteUndone extends Failure {
  constructor(table: string) {
    super(
      "CONFLICT",
      `what was written to ${table} is not there: a trigger or a rule of yours undoes it; drop that (bridge doctor names it)`,
    );
    this.name = "WriteUndone";
  }
}

/** Row-level security has come over a mapped table since its cycle began. */
export class RowsHidden extends Failure {
  constructor(table: string) {
    super("CONFLICT", `${hiddenRows(table)}; ${HIDDEN_REMEDY}`);
    this.name = "RowsHidden";
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

/** The watermarks of the pulls, all in the org's time. */
export interface Watermarks {
  /** Fast lane: every record stamped before it is in the table; null before the first load has ended. */
  readonly position: Date | null;
  /** When the late-commit lane last ran. */
  readonly slow: Date | null;
  /** getDeleted's `latestDateCovered`. */
  readonly deleted: Date | null;
  /** Where the next cycle continues within the windows that the lanes have not finished. */
  readonly lanes: Lanes;
  /** Unfinished long work, by which any later invocation takes it up; null: none is under way. */
  readonly load: LoadCheckpoint | null;
}

/** What is left out stays as it is; undefined: it was passed whole, or never begun. */
export interface Lanes {
  /** The last record of the fast lane, in the second of the position; of the late lane; of what is outside of the filter. */
  readonly fast?: Keyset | undefined;
  readonly late?: Keyset | undefined;
  readonly outside?: Keyset | undefined;
  /** Pages of the fast lane since it last came to the end. */
  readonly pages?: number | undefined;
  /** Up to this stamp changes had been read when the org's clock went back; until it is there again. */
  readonly back?: { readonly stamp: Date } | undefined;
  /** When a cycle last met a change, on either side; by the service's own time. */
  readonly changed?: { readonly stamp: Date } | undefined;
  /** How much a read asks for, where that is less than a page. */
  readonly size?: ReadSize | undefined;
}

/** Long work of the mapping is unfinished or running: none was handed over. */
export class LongWorkUnderWay extends Error {}

export type Begun =
  | {
      readonly held: true;
      readonly lease: Lease;
      readonly shape: TableShape;
      /** The last id that the log's sequence has given. */
      readonly logId: number;
      /** Why changes of the table are not captured; then nothing may touch the table. Null: they are. */
      readonly captureOff: CaptureOff | null;
      readonly marks: Watermarks;
      /** The org's time of the last finished pull; null: never. */
      readonly lastPullAt: Date | null;
      /** What the cycle has to do, so that an idle one asks nothing more. */
      readonly waiting: { readonly changes: boolean; readonly unfinished: boolean; readonly outbox: boolean };
      /** Deletes that the breaker holds until an operator confirms them, on both sides. */
      readonly heldDeletes: number;
      /** Records to read again by Id, because their rows were locked when the page was written; at most 200. */
      readonly rereads: readonly string[];
      /** Those of them that an operator has asked to undelete. */
      readonly restores: readonly string[];
    }
  | {
      readonly held: false;
      readonly why: "slot taken" | "running" | "config changed" | "config behind" | "not provisioned";
    };

/** A lease that was acquired, and the state of its mapping. */
export type Held = Extract<Begun, { readonly held: true }>;

/** The state of a mapping, read without its lease. */
export interface SyncState extends Pick<Held, "marks" | "lastPullAt" | "heldDeletes"> {
  readonly mappingId: string;
  /** A cycle would have nothing to do, but perhaps to pull. */
  readonly isIdle: boolean;
  /** Its totals, where nothing holds its lease and its last beat was noted within the minute: this one need not be. */
  readonly noted: (Pick<Totals, "rowsSynced" | "rowsFailed" | "apiCalls"> & { readonly configVersion: number }) | null;
}

/** Beats of one slot (epoch seconds) that had nothing to do. */
export interface IdleBeats {
  readonly slot: number;
  readonly beats: readonly { readonly mappingId: string; readonly configVersion: number }[];
  readonly unchanged: Unchanged | null;
}

/** A probe at this time (the org's) saw nothing new of these mappings, which is as good as a pull. */
export interface Unchanged {
  readonly mappingIds: readonly string[];
  readonly at: Date;
  /** Those of them of which it also saw nothing late and nothing deleted; for nothing else that has moved their pulls. */
  readonly late?: readonly LateLook[];
}

/** What a poll of the late lanes, made without the lease, found. */
export interface LateLook {
  readonly mappingId: string;
  /** The position that the poll started from, and the watermarks as they are now. */
  readonly from: Date;
  readonly marks: { readonly position: Date; readonly slow: Date; readonly deleted: Date };
}

/**
 * Totals since the mapping's beginning; they only rise. `queueDepth` is the workspace's rows in NEW, up to a million, and
 * `oldestWaitingSeconds` the age of the oldest that waits and is not held, 0 when there is none; null: not counted.
 */
export interface Totals {
  readonly rowsSynced: number;
  readonly rowsFailed: number;
  readonly apiCalls: Readonly<Record<string, number>>;
  readonly queueDepth: number | null;
  readonly oldestWaitingSeconds: number | null;
}

/** `lost`: another cycle holds it or the config changed; `aborted`: an operator asked this cycle to stop. */
export type Renewal = "held" | "lost" | "aborted";

/** What the end of a cycle finds. */
export interface Finished extends Totals {
  /** Events of rows wait in the outbox, whatever caused them. */
  readonly outboxWaits: boolean;
  /** How many rows have refused the write-back of their results, and the SQLSTATE of one. */
  readonly refusedWriteBacks: { readonly rows: number; readonly sqlState: string | null };
}

export interface OutboxEvent {
  readonly id: string;
  readonly event: "record.failed" | "sync.failure_spike";
  readonly occurredAt: Date;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface CycleEnd {
  readonly marks: Partial<Watermarks>;
  readonly pulledAt: Date | null;
  readonly unchanged?: Unchanged | null;
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
  /** Changes that Salesforce has accepted and rejected. */
  readonly accepted: number;
  readonly refused: number;
}

/** The lease of a cycle or of long work, from its beginning to its end, and the events that it leaves. */
export interface LeaseStore {
  /** Takes the lease; one round trip. */
  begin(request: BeginRequest): Promise<Begun>;
  renew(lease: Lease, leaseSeconds: number): Promise<Renewal>;
  /** Commits marks, calls and the cycle's end, reports a spike, releases the lease; one round trip. */
  finish(lease: Lease, end: CycleEnd): Promise<Finished>;
  /**
   * The state of these mappings, without their leases; those whose tables do not exist yet are left out. One round
   * trip.
   */
  syncStates(mappingIds: readonly string[]): Promise<readonly SyncState[]>;
  /**
   * Counts the beats as cycles that ended well, and gives the totals by mapping: of those whose lease was free, whose
   * slot had not run yet and whose configuration is the same. One round trip.
   */
  endIdle(idle: IdleBeats): Promise<ReadonlyMap<string, Totals>>;
  /** Counts calls that were sent for a mapping without its lease. */
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
