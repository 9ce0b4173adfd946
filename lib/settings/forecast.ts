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
export const idleCallsPerDay = (mappings: readonly Mapping[]): number =>
  [...idleCallsOfEach(mappings).values()].reduce((sum, calls) => sum + calls, 0);

/** What each of them costs of it, by id: its part of the probes that it shares, and its own slow lane. */
function idleCallsOfEach(mappings: readonly Mapping[]): ReadonlyMap<string, number> {
  const pulling = mappings.filter(
    ({ active, deletedAt, syncDirection }) => active && !deletedAt && pulls(syncDirection),
  );
  const calls = SLOW_LANE_CALLS + (pulling.length > 1 ? UNSHARED_PULL_CALLS : 0);
  const slow = calls * (DAY_SECONDS / SLOW_LANE_SECONDS);
  const intervals = Map.groupBy(pulling, ({ pollingSeconds }) => pollingSeconds);
  return new Map(
    [...intervals].flatMap(([seconds, group]) => {
      const all = group.reduce((sum, mapping) => sum + queriesOf(mapping), 0);
      const probes = Math.ceil(DAY_SECONDS / seconds) * Math.ceil(all / QUERIES_PER_CALL);
      let before = 0;
      return group.map((mapping): [string, number] => {
        const upTo = before + queriesOf(mapping);
        // Rounded so that the parts are whole and their sum is exact.
        const part = Math.round((probes * upTo) / all) - Math.round((probes * before) / all);
        before = upTo;
        return [mapping.id, part + slow];
      });
    }),
  );
}

/** A filtered mapping is asked about twice: what changed inside of the filter, and what left it. */
const queriesOf = ({ filter }: Mapping): number => (filter === null ? 1 : 2);

/** What a mapping costs a day among all of its workspace while nothing changes; the sum of all is their forecast. */
export const idleCallsOf = (mapping: Mapping, all: readonly Mapping[]): number =>
  idleCallsOfEach(all).get(mapping.id) ?? 0;

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
