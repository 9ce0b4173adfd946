import type { State } from "../model/change/change.ts";
import type { Slice, WrittenPage } from "../model/page.ts";
import type { PostgresConnection } from "../model/workspace/workspace.ts";

/** What the monitoring endpoints ask of a customer's database. */
export interface Monitoring {
  /** A database to be asked; the first question connects to it. */
  open(postgres: PostgresConnection): Promise<MonitoredDatabase>;
}

/**
 * One customer's database, for one request; disposing it gives its connection back. Every question is answered within the
 * read deadline of 15 s or rejects with `DatabaseUnavailable`. Pages far back take two questions. A schema that nothing was
 * provisioned in yet answers like an empty one.
 */
export interface MonitoredDatabase extends AsyncDisposable {
  /** How it does, and what waits in it. */
  check(): Promise<DatabaseState>;
  /** Rows in state NEW, over all tables. */
  countNew(): Promise<number>;
  /** Rows of the trigger log, most recent first (by id), and how many match in all, exactly. */
  listActivity(asked: ActivityQuery): Promise<WrittenPage>;
  /** Rows in state FAILED, most recent first, and how many match in all, exactly. */
  listErrors(asked: ErrorQuery): Promise<WrittenPage>;
  /** Whether somebody holds the mapping's lease now. */
  isCycleRunning(mappingId: string): Promise<boolean>;
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
}

export interface ErrorQuery extends Slice {
  /** Bare table name, as written by the caller; null: every table. An unknown one matches nothing. */
  readonly table: string | null;
}

export interface ActivityQuery extends ErrorQuery {
  readonly state: State | null;
}

/** The customer's database could not be asked. The message names the class of the trouble, never the driver's words. */
export class DatabaseUnavailable extends Error {
  /** "connect": no session was had; "query": the session was there and failed or took too long. */
  readonly stage: "connect" | "query";
  /** All connections are in use; it is worth asking again in a moment. */
  readonly isBusy: boolean;

  constructor(stage: "connect" | "query", message: string, cause: unknown, isBusy = false) {
    super(message, { cause });
    this.name = "DatabaseUnavailable";
    this.stage = stage;
    this.isBusy = isBusy;
  }
}
