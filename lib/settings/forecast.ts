import { type Budget, pullSeconds } from "../model/calls/budget.ts";
import { type Asking, idleCalls, queriesOf } from "../model/calls/forecast.ts";
import { bulkCalls, soapCalls } from "../model/change/ways.ts";
import { isRung } from "../model/doorbell.ts";
import { type Mapping, pulls } from "../model/mapping/mapping.ts";

/** What of a mapping decides what it costs. */
export type Costly = Pick<
  Mapping,
  "id" | "active" | "deletedAt" | "syncDirection" | "pollingSeconds" | "whenQuietSeconds" | "notifyEnabled" | "filter"
>;

/** Whether a mapping's doorbell works. */
export type IsRung = (mapping: Costly) => boolean;

export const rungBy =
  ({ doorbell }: Pick<Budget, "doorbell">, at: Date): IsRung =>
  (mapping) =>
    isRung(doorbell, mapping, at);

/**
 * API calls a day that each of these mappings costs while nothing changes, by id: what is due together shares its calls,
 * so that they add up to the workspace's forecast. What changes costs its pages and its writes beyond it.
 */
export function idleCallsOfEach(
  mappings: readonly Costly[],
  whenQuiet: number | null,
  isRungNow?: IsRung,
): ReadonlyMap<string, number> {
  const pulling = mappings.filter(isPulling);
  const calls = idleCalls(askedOf(pulling, whenQuiet, isRungNow));
  return new Map(pulling.map(({ id }, at) => [id, calls[at] ?? 0]));
}

const isPulling = ({ active, deletedAt, syncDirection }: Costly): boolean =>
  active && !deletedAt && pulls(syncDirection);

/** What is asked of the org for those that pull while nothing changes. */
export const askedOf = (
  mappings: readonly Costly[],
  whenQuiet: number | null,
  isRungNow: IsRung = () => false,
): readonly Asking[] =>
  mappings.filter(isPulling).map((mapping) => ({
    everySeconds: pullSeconds({ plan: null, whenQuiet }, mapping, { isQuiet: true, isRung: isRungNow(mapping) }),
    queries: queriesOf(mapping),
  }));

/** Records that one call reads, mostly. */
const RECORDS_PER_PAGE = 2_000;

/** API calls that sending so many rows of one kind costs. */
export const callsToSend = (rows: number): number => Math.min(soapCalls(rows), bulkCalls(rows));

/** Records that one call reads of a job of the Bulk API, and the calls that make the job and look after it. */
const RECORDS_PER_PART = 50_000;
const JOB_CALLS = 5;

/** API calls that reading so many records costs, with the one that counts them. */
export const callsToRead = (records: number): number =>
  1 + Math.min(Math.ceil(records / RECORDS_PER_PAGE), JOB_CALLS + Math.ceil(records / RECORDS_PER_PART));
