import type { HourOfCalls } from "./plan.ts";

/** The totals of a mapping when an hour was last reported; they only rise. */
export interface HourOfTotals {
  readonly hour: number;
  readonly calls: number;
  readonly changes: number;
}

/** Hours that are kept of each mapping. A first one with the number 0 says that nothing was done before. */
export const HOURS_KEPT = 26;

/** What was done in each hour, by the totals at its end; hours without a report count in the last of them. */
export function hoursOf(totals: readonly HourOfTotals[]): readonly HourOfCalls[] {
  const inOrder = totals.toSorted((one, other) => one.hour - other.hour);
  return inOrder.slice(1).map(({ hour, calls, changes }, at) => ({
    hour,
    calls: Math.max(0, calls - (inOrder[at]?.calls ?? 0)),
    changes: Math.max(0, changes - (inOrder[at]?.changes ?? 0)),
  }));
}

/** The end of the last hour in which something changed; null: none is kept. */
export function lastChange(hours: readonly HourOfCalls[]): Date | null {
  const last = hours.findLast(({ changes }) => changes > 0);
  return last ? new Date((last.hour + 1) * 3_600_000) : null;
}

/** The hours of all mappings together. */
export function allHours(mappings: readonly (readonly HourOfCalls[])[]): readonly HourOfCalls[] {
  return [...Map.groupBy(mappings.flat(), ({ hour }) => hour)].map(([hour, some]) => ({
    hour,
    calls: some.reduce((sum, { calls }) => sum + calls, 0),
    changes: some.reduce((sum, { changes }) => sum + changes, 0),
  }));
}
