import type { Totals } from "../../../sync/ports/lease-ports.ts";
import { DeadlinePassed } from "../session/session.ts";
import { type Metadata, type StoreContext, within } from "../session/sql.ts";
import { sqlState } from "../session/sql-errors.ts";

/** How many rows of a workspace wait, and how long the oldest has. */
type Waiting = Pick<Totals, "queueDepth" | "oldestWaitingSeconds">;

/** What this process last counted in one workspace's log. */
export interface BacklogMemory {
  counted: { readonly rows: number; readonly oldestSeconds: number; readonly at: Date } | null;
  /** When a count took too long. */
  failedAt?: Date;
}

/** Up to so many rows a count takes a few milliseconds. */
const COUNTED_ALWAYS = 10_000;
/** So many are counted at the most, which takes some seconds; more say so many. */
const COUNTED_AT_MOST = 1_000_000;
/** Of a longer backlog one cycle in so many rows' milliseconds counts, which keeps counting to some percent of the time. */
const ROWS_PER_MILLISECOND = 10;

/**
 * What waits now, or by the last count where another one is not due: after a cycle with a short backlog it is, after one
 * that had nothing to do (`isIdle`) once in half a minute. It is a statement of its own, after the lease was released:
 * what it takes is nothing to the cycle, and one that is canceled leaves the figure. Null: nothing was counted yet.
 */
export async function readWaiting(
  { session, tables, now }: Pick<StoreContext, "session" | "tables" | "now">,
  backlog: BacklogMemory,
  isIdle: boolean,
): Promise<Waiting> {
  if (isCountDue(backlog, now(), isIdle)) {
    const counting = session.query<{ rows: number; oldest: number }>(countWaiting(tables));
    const [row] = await counting.catch((error: unknown) => {
      if (!TOOK_TOO_LONG.includes(sqlState(error) ?? "") && !(error instanceof DeadlinePassed)) throw error;
      backlog.failedAt = now();
      return [];
    });
    if (row) backlog.counted = { rows: Number(row.rows), oldestSeconds: Number(row.oldest), at: now() };
  }
  const { counted } = backlog;
  if (counted === null) return { queueDepth: null, oldestWaitingSeconds: null };
  const since = (now().getTime() - counted.at.getTime()) / 1000;
  return {
    queueDepth: counted.rows,
    oldestWaitingSeconds: counted.oldestSeconds > 0 ? counted.oldestSeconds + since : 0,
  };
}

/** PostgreSQL's words for a statement that was canceled or waited for a lock. */
const TOOK_TOO_LONG = ["57014", "55P03"];

const IDLE_MILLISECONDS = 30_000;
/** One that took too long is tried again after this, or a log that is too long to be counted would cost each cycle as much. */
const FAILED_MILLISECONDS = 900_000;

function isCountDue({ counted, failedAt }: BacklogMemory, now: Date, isIdle: boolean): boolean {
  if (failedAt && now.getTime() - failedAt.getTime() < FAILED_MILLISECONDS) return false;
  if (counted === null) return true;
  const pause = counted.rows < COUNTED_ALWAYS ? 0 : counted.rows / ROWS_PER_MILLISECOND;
  return now.getTime() - counted.at.getTime() >= (isIdle ? Math.max(pause, IDLE_MILLISECONDS) : pause);
}

/**
 * Over the whole log, in parts that have an index each: what is ready, what was put off, and what is held. What is ready
 * is looked for where claims have looked before: they mark what is dead there.
 */
const countWaiting = ({ log }: Metadata): string => {
  const part = (
    which: string,
  ) => `(SELECT count(*) FILTER (WHERE state::text = 'NEW') AS new_ones, min(created_at) AS first_at
        FROM (SELECT state, created_at FROM ${log} WHERE processed_at IS NULL AND ${which} LIMIT ${COUNTED_AT_MOST}) AS part)`;
  return `SELECT least(ready.new_ones + put_off.new_ones + held.new_ones, ${COUNTED_AT_MOST}) AS rows,
       coalesce(extract(epoch FROM clock_timestamp() - (${within("least(ready.first_at, put_off.first_at)")})), 0) AS oldest
     FROM ${part("NOT held AND due_at IS NULL")} AS ready, ${part("NOT held AND due_at IS NOT NULL")} AS put_off,
       ${part("held")} AS held`;
};
