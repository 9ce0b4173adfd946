import { pullSeconds } from "../model/budget.ts";
import { type Asking, idleCalls, queriesOf } from "../model/calls/forecast.ts";
import { bulkCalls, soapCalls } from "../model/change/ways.ts";
import { type Mapping, pulls } from "../model/mapping/mapping.ts";

/**
 * API calls a day that these mappings cost together while nothing changes. What changes costs its pages and its writes
 * beyond it.
 */
export const idleCallsPerDay = (mappings: readonly Costly[], whenQuiet: number | null, isRung?: IsRung): number =>
  [...idleCallsOfEach(mappings, whenQuiet, isRung).values()].reduce((sum, calls) => sum + calls, 0);

/** What of a mapping decides what it costs. */
export type Costly = Pick<
  Mapping,
  "id" | "active" | "deletedAt" | "syncDirection" | "pollingSeconds" | "whenQuietSeconds" | "notifyEnabled" | "filter"
>;

/** Whether a mapping's doorbell works. */
export type IsRung = (mapping: Costly) => boolean;

/** What each of them costs of it, by id; the workspace says how often quiet ones are asked about. */
export function idleCallsOfEach(
  mappings: readonly Costly[],
  whenQuiet: number | null,
  isRung?: IsRung,
): ReadonlyMap<string, number> {
  const pulling = mappings.filter(isPulling);
  const calls = idleCalls(askedOf(pulling, whenQuiet, isRung));
  return new Map(pulling.map(({ id }, at) => [id, calls[at] ?? 0]));
}

const isPulling = ({ active, deletedAt, syncDirection }: Costly): boolean =>
  active && !deletedAt && pulls(syncDirection);

/** What is asked of the org for those that pull while nothing changes. */
export const askedOf = (
  mappings: readonly Costly[],
  whenQuiet: number | null,
  isRung: IsRung = () => false,
): readonly Asking[] =>
  mappings.filter(isPulling).map((mapping) => ({
    everySeconds: pullSeconds({ plan: null, whenQuiet }, mapping, null, isRung(mapping)),
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
