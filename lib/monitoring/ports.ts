import type { MappingFigures } from "../metrics/ports.ts";
import type { State } from "../model/change/change.ts";
import type { FeedPage, FeedQuery } from "../model/change/feed.ts";
import type { PollOutcome } from "../model/engine.ts";
import type { Page, Slice } from "../model/page.ts";
import type { Signs } from "../model/stall.ts";
import type { PostgresConnection } from "../model/workspace/workspace.ts";

/** What the monitoring endpoints ask of a customer's database. */
export interface Monitoring {
  /** A database to be asked; the first question connects to it. */
  open(postgres: PostgresConnection): Promise<MonitoredDatabase>;
}

/**
 * One customer's database, for one request. Every question is answered within the read deadline of 15 s or rejects with
 * `DatabaseUnavailable`. Pages far back take two questions. A schema that nothing was provisioned in yet answers like an
 * empty one.
 */
export interface MonitoredDatabase {
  /** The upgrade that its schema waits for, in words; null: it is up to date. While it is too old, all else rejects. */
  upgrade(): Promise<string | null>;
  /** How it does, and what waits in it. */
  check(): Promise<DatabaseState>;
  /** What every mapping that has its table shows of its cycles. */
  signs(): Promise<readonly Signs[]>;
  /** Rows in state NEW, over all tables, and when the oldest of them that is not held was captured. */
  countNew(): Promise<{ readonly rows: number; readonly oldestAt: Date | null }>;
  /** The metrics of those mappings that have their tables. */
  mappingFigures(mappingIds: readonly string[]): Promise<readonly Omit<MappingFigures, "object">[]>;
  /** Rows of the trigger log, most recent first (by id), and how many match in all, exactly. */
  listActivity(asked: ActivityQuery): Promise<Page<unknown>>;
  /** Rows in state FAILED, most recent first, and how many match in all, exactly. */
  listErrors(asked: ErrorQuery): Promise<Page<unknown>>;
  /** Changes after a place in the log, in its order; null where the place is not of this database's past. */
  listChanges(asked: FeedQuery): Promise<FeedPage | null>;
  /** The number of the mapping's last lease, and whether it is held now; null: it had none. */
  leaseOf(mappingId: string): Promise<{ readonly fence: number; readonly isHeld: boolean } | null>;
  /** Asks the running cycle to stop at its next batch, naming the fence it saw; false when none was running. */
  requestAbort(mappingId: string, requestedAt: Date): Promise<boolean>;
}

export interface DatabaseState {
  /** Milliseconds that one trip takes, whole. */
  readonly latencyMilliseconds: number;
  /** When a cycle of any mapping last ended; null before the first. */
  readonly lastRunAt: Date | null;
  /** Rows in state NEW or PENDING, over all tables. */
  readonly waitingRows: number;
  /** The same of each mapping, with the rows that Salesforce refused, and the latest of its reasons. */
  readonly backlogs: readonly Backlog[];
}

export interface Backlog {
  readonly id: string;
  readonly waiting: number;
  readonly failed: number;
  readonly refusal: string | null;
}

export interface ErrorQuery extends Slice {
  /** Bare table name, as written by the caller; null: every table. An unknown one matches nothing. */
  readonly table: string | null;
  /** Only rows with a lower id. */
  readonly before?: number | null | undefined;
}

export interface ActivityQuery extends ErrorQuery {
  readonly state: State | null;
  /** Only changes of this row; left out: of all. */
  readonly named?: NamedRow | undefined;
}

/** What names a row; null: not given, but not all. `key` is the value of the upsert field. */
export interface NamedRow {
  readonly sfid: string | null;
  readonly row: number | null;
  readonly key: string | null;
}

/** A cycle that was asked for. */
export interface Poll {
  readonly mappingId: string;
  readonly askedAt: Date;
  /** Null: it has not ended. */
  readonly outcome: PollOutcome | null;
}

/** Cycles that were asked for, each by its mark, for a day. */
export interface Polls {
  add(poll: Omit<Poll, "outcome"> & { readonly workspaceId: string; readonly mark: string }): Promise<void>;
  read(workspaceId: string, mark: string): Promise<Poll | null>;
}

/** Which databases do not answer, by name and over all processes; times are epoch milliseconds. */
export interface SilentDatabases {
  /** Until when it counts as silent; 0: it does not. */
  until(name: string): Promise<number>;
  /** Says that it is silent until then; false: that is known already. */
  claim(name: string, at: number, until: number): Promise<boolean>;
  /** It has answered. */
  end(name: string): Promise<void>;
}

/** The customer's database could not be asked. The message names the class of the trouble, never the driver's words. */
export class DatabaseUnavailable extends Error {
  /** "connect": no session was had; "query": the session was there and failed or took too long. */
  readonly stage: "connect" | "query";
  /** All connections are in use, others' locks are in the way, or another request waits: it is worth asking again soon. */
  readonly isBusy: boolean;

  constructor(stage: "connect" | "query", message: string, cause: unknown, isBusy = false) {
    super(message, { cause });
    this.name = "DatabaseUnavailable";
    this.stage = stage;
    this.isBusy = isBusy;
  }
}
