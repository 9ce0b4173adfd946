/** Queries that one composite call carries (Composite Resources, Composite). */
export const QUERIES_PER_CALL = 5;

const DAY_SECONDS = 86_400;
const BEAT_SECONDS = 10;

/** Each day a mapping looks at its object's description, and compares both sides, mostly. */
export const DAILY_CALLS = 3;

/** What is asked of the org for one mapping. */
export interface Asking {
  /** Seconds between its pulls. */
  readonly everySeconds: number;
  readonly queries: number;
}

/** A filtered mapping is asked about twice: what changed inside of the filter, and what left it. */
export const queriesOf = ({ filter }: { readonly filter: unknown }): number => (filter === null ? 1 : 2);

/**
 * API calls a day that these mappings cost together while nothing changes, each one's part at its place: whole numbers
 * whose sum is exact. What is due in one beat shares its calls; late commits and deletes travel along.
 */
export function idleCalls(mappings: readonly Asking[]): readonly number[] {
  const groups = [...Map.groupBy(mappings, ({ everySeconds }) => everySeconds)].map(([seconds, some]) => ({
    seconds,
    queries: some.reduce((sum, { queries }) => sum + queries, 0),
  }));
  const perQuery = callsPerQuery(groups);
  let before = 0;
  return mappings.map(({ everySeconds, queries }) => {
    const upTo = before + queries * (perQuery.get(everySeconds) ?? 0);
    const part = Math.round(upTo) - Math.round(before);
    before = upTo;
    return part + DAILY_CALLS;
  });
}

interface Group {
  readonly seconds: number;
  readonly queries: number;
}

/** What a day costs for each query of a group, by its interval. */
function callsPerQuery(groups: readonly Group[]): ReadonlyMap<number, number> {
  const perQuery = new Map(groups.map(({ seconds }) => [seconds, 0]));
  const [only, ...others] = groups;
  if (only && others.length === 0)
    return new Map([[only.seconds, Math.floor(DAY_SECONDS / only.seconds) * perQueryOf(only.queries)]]);
  for (let at = BEAT_SECONDS; at <= DAY_SECONDS; at += BEAT_SECONDS) {
    const due = groups.filter(({ seconds }) => Math.floor(at / seconds) > Math.floor((at - BEAT_SECONDS) / seconds));
    const calls = perQueryOf(due.reduce((sum, { queries }) => sum + queries, 0));
    for (const { seconds } of due) perQuery.set(seconds, (perQuery.get(seconds) ?? 0) + calls);
  }
  return perQuery;
}

const perQueryOf = (queries: number): number => Math.ceil(queries / QUERIES_PER_CALL) / queries;

/** The same for all of them. */
export const idleCallsPerDay = (mappings: readonly Asking[]): number =>
  idleCalls(mappings).reduce((sum, calls) => sum + calls, 0);

/** What changes costs beyond it, at most: a call of each ten seconds in which something did, and one of each full page. */
export const callsForChanges = (changes: number, mappings: number, seconds: number): number =>
  Math.min(changes, (mappings * seconds) / BEAT_SECONDS) + changes / 200;
