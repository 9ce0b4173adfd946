import type { Totals } from "../../../sync/ports/lease-ports.ts";
import { type Metadata, within } from "../session/sql.ts";

/** How many rows of a workspace wait, and how long the oldest has. */
export type Waiting = Pick<Totals, "queueDepth" | "oldestWaitingSeconds">;

/** What this process last counted in one workspace's log. */
export interface BacklogMemory {
  counted: { readonly waiting: Waiting; readonly at: Date } | null;
}

/** Up to so many rows a count takes a few milliseconds, and every cycle counts. */
const COUNTED_ALWAYS = 10_000;
/** Of a longer backlog one cycle in so many rows' milliseconds counts, which keeps counting under a percent of the time. */
const ROWS_PER_MILLISECOND = 10;

/** Whether to count again: a backlog of a million rows is counted every hundred seconds, not by each of a hundred cycles. */
export function isCountDue({ counted }: BacklogMemory, now: Date): boolean {
  if (counted === null || counted.waiting.queueDepth < COUNTED_ALWAYS) return true;
  return now.getTime() - counted.at.getTime() >= counted.waiting.queueDepth / ROWS_PER_MILLISECOND;
}

/** What waits by the last count; the oldest row has grown older since. */
export function waitingNow({ counted }: BacklogMemory, now: Date): Waiting {
  if (counted === null) throw new Error("nothing was counted yet");
  const { queueDepth, oldestWaitingSeconds } = counted.waiting;
  const since = (now.getTime() - counted.at.getTime()) / 1000;
  return { queueDepth, oldestWaitingSeconds: oldestWaitingSeconds > 0 ? oldestWaitingSeconds + since : 0 };
}

/**
 * A SELECT of one `Waiting` over the whole log, in parts that have an index each: what is ready, what was put off, and
 * what is held. What is ready is looked for where claims have looked before: they mark what is dead there.
 */
export const countWaiting = ({ log }: Metadata): string => {
  const part = (
    which: string,
  ) => `(SELECT count(*) FILTER (WHERE state::text = 'NEW') AS new_ones, min(created_at) AS first_at
        FROM ${log} WHERE processed_at IS NULL AND ${which})`;
  return `SELECT jsonb_build_object('queueDepth', ready.new_ones + put_off.new_ones + held.new_ones, 'oldestWaitingSeconds',
       coalesce(extract(epoch FROM clock_timestamp() - (${within("least(ready.first_at, put_off.first_at)")})), 0))
     FROM ${part("NOT held AND due_at IS NULL")} AS ready, ${part("NOT held AND due_at IS NOT NULL")} AS put_off,
       ${part("held")} AS held`;
};
