import { bulkCalls, soapCalls } from "../model/change/ways.ts";
import { type Mapping, pulls } from "../model/mapping/mapping.ts";

const DAY_SECONDS = 86_400;

/** Queries that one probe call carries (design section 5, the call budget). */
const QUERIES_PER_CALL = 5;

/** Late commits and hard deletes are looked for this often, one call each; several mappings cannot share that pull. */
const SLOW_LANE_SECONDS = 300;
const SLOW_LANE_CALLS = 2;
const UNSHARED_PULL_CALLS = 1;

/**
 * API calls a day that these mappings cost together while nothing changes: mappings of one interval share their probes.
 * What changes costs its pages and its writes beyond it.
 */
export function idleCallsPerDay(mappings: readonly Mapping[]): number {
  const pulling = mappings.filter(
    ({ active, deletedAt, syncDirection }) => active && !deletedAt && pulls(syncDirection),
  );
  const intervals = Map.groupBy(pulling, ({ pollingSeconds }) => pollingSeconds);
  const probes = [...intervals].map(
    ([seconds, group]) => Math.ceil(DAY_SECONDS / seconds) * Math.ceil(queriesOf(group) / QUERIES_PER_CALL),
  );
  const calls = SLOW_LANE_CALLS + (pulling.length > 1 ? UNSHARED_PULL_CALLS : 0);
  const slow = pulling.length * calls * (DAY_SECONDS / SLOW_LANE_SECONDS);
  return probes.reduce((sum, calls) => sum + calls, 0) + slow;
}

/** A filtered mapping is asked about twice: what changed inside of the filter, and what left it. */
const queriesOf = (mappings: readonly Mapping[]): number =>
  mappings.reduce((sum, { filter }) => sum + (filter === null ? 1 : 2), 0);

/** What one mapping costs a day while nothing changes, were it alone and active. */
export const idleCallsOf = (mapping: Mapping): number =>
  idleCallsPerDay([{ ...mapping, active: true, deletedAt: null }]);

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
