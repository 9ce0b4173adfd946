import { type Asking, callsForChanges, idleCallsPerDay } from "./forecast.ts";
import { FULL_PACE_SECONDS, RUNG_SECONDS } from "./interval.ts";

/** What of an org's daily calls Bridge may make: a share (above 0, to 1), and an absolute number that it may not pass. */
export interface Share {
  readonly share: number;
  readonly most: number | null;
}

export const DEFAULT_SHARE: Share = { share: 0.8, most: null };

/** The org's own count of the last 24 hours, by all clients, and its limit. */
export interface Usage {
  readonly used: number;
  readonly limit: number;
  readonly at: Date;
}

/** What Bridge did in an hour, by its number since 1970. */
export interface HourOfCalls {
  readonly hour: number;
  readonly calls: number;
  /** Rows and records that changed. */
  readonly changes: number;
}

export interface PlanRequest {
  readonly now: Date;
  readonly usage: Usage;
  readonly share: Share;
  /** Of the last 25 hours; those in which nothing happened may be left out. */
  readonly hours: readonly HourOfCalls[];
  /** The active mappings that pull, at their own intervals. */
  readonly mappings: readonly Asking[];
}

/** How the calls of the share are spent from now on; a new plan comes once a minute. */
export interface Plan {
  readonly at: Date;
  /** Calls in 24 hours that the share allows; fewer where others use up what the org has left. */
  readonly allowed: number;
  /** Bridge's own of the last 24 hours, the oldest hour whole. */
  readonly used: number;
  /** Pulls of a mapping are at least so many whole seconds apart: ten wherever the share allows it. */
  readonly paceSeconds: number;
  /** Pulls that a doorbell asks for are, while it rings without end. */
  readonly ringSeconds: number;
  /** Calls that saves may make now; what others use up is for the org to refuse. */
  readonly pushCalls: number;
  /** Calls that loads, sweeps and other work may make now that can wait. */
  readonly spareCalls: number;
}

const HOUR_SECONDS = 3_600;
const HOURS = 24;

/** Parts of what is allowed: what saves leave to pulls, what loads leave to saves, what pulls leave to loads in the end. */
const KEPT_FOR_PULLS = 0.05;
const KEPT_FOR_SAVES = 0.05;
const KEPT_FOR_LOADS = 0.05;

/** So far the count may lag behind. */
const MARGIN = 0.01;

/** Saves are expected to take at least and at most so much of the day. */
const LEAST_FOR_CHANGES = 0.05;
const MOST_FOR_CHANGES = 0.5;

/** So much of the org's limit is left alone when others use the rest. */
const ORG_MARGIN = 0.02;

/** Pulls never stop while the org answers: the slowest pace is an hour, or what a part of the share suffices for. */
const SLOWEST_SECONDS = HOUR_SECONDS;

/** Rings pull a mapping no more often. */
export const SHORTEST_RING_SECONDS = 2;

/** Plans the day from now on, so that no 24 hours hold more calls than the share allows. */
export function planCalls({ now, usage, share, hours, mappings }: PlanRequest): Plan {
  const hour = Math.floor(now.getTime() / 1000 / HOUR_SECONDS);
  const left = 1 - (now.getTime() / 1000 / HOUR_SECONDS - hour);
  const byHour = new Map(hours.map((one) => [one.hour, one]));
  const callsIn = (at: number): number => byHour.get(at)?.calls ?? 0;

  const used = sum(HOURS + 1, (age) => callsIn(hour - age));
  const others = Math.max(0, usage.used - (used - callsIn(hour - HOURS) * (1 - left)));
  const most = Math.min(share.share * usage.limit, share.most ?? Number.POSITIVE_INFINITY);
  const allowed = Math.max(0, Math.floor(Math.min(most, (1 - ORG_MARGIN) * usage.limit - others)));
  const ofShare = most * (1 - MARGIN) - used;
  const unspent = Math.min(ofShare, (1 - ORG_MARGIN) * usage.limit - usage.used);

  const reserved = reserve(hours, hour, mappings.length, allowed);
  const costs = (pace: number): number => callsPerHour(mappings, pace);
  const isAffordable = (pace: number): boolean => {
    let budget = unspent - KEPT_FOR_PULLS * allowed;
    const pulling = costs(pace);
    for (const [ahead, changing] of reserved.entries()) {
      budget -= (ahead === 0 ? left : 1) * (changing + pulling);
      if (budget < 0) return false;
      budget += callsIn(hour + ahead - HOURS); // what leaves the count as that hour ends
    }
    return budget >= (KEPT_FOR_SAVES + KEPT_FOR_LOADS) * allowed;
  };
  const slowest = slowestPace(costs, most);
  const spareCalls = Math.max(0, Math.floor(unspent - (KEPT_FOR_PULLS + KEPT_FOR_SAVES) * allowed));
  return {
    at: now,
    allowed,
    used,
    paceSeconds: Math.round(Math.min(slowest, fastest(isAffordable))),
    ringSeconds: ringSeconds(mappings.length, spareCalls - sum(HOURS, (ahead) => reserved[ahead] ?? 0)),
    pushCalls: Math.max(0, Math.floor(ofShare - KEPT_FOR_PULLS * most)),
    spareCalls,
  };
}

/** Calls of each hour from this one on that are left to what changes: as much as the day before. */
function reserve(hours: readonly HourOfCalls[], hour: number, mappings: number, allowed: number): readonly number[] {
  const least = (LEAST_FOR_CHANGES * allowed) / HOURS;
  const changes = new Map(hours.map((one) => [one.hour + HOURS, one.changes]));
  const wanted = Array.from({ length: HOURS }, (_, ahead) =>
    Math.max(least, callsForChanges(changes.get(hour + ahead) ?? 0, mappings, HOUR_SECONDS)),
  );
  const [all, most] = [sum(HOURS, (ahead) => wanted[ahead] ?? 0), MOST_FOR_CHANGES * allowed];
  return all > most ? wanted.map((calls) => (calls * most) / all) : wanted;
}

/** What an hour of pulls costs at a pace. */
const callsPerHour = (mappings: readonly Asking[], pace: number): number =>
  idleCallsPerDay(mappings.map((one) => ({ ...one, everySeconds: Math.max(one.everySeconds, pace) }))) / HOURS;

/** Paces that are tried, each five percent slower than the one before, up to a day. */
const LADDER: readonly number[] = Array.from({ length: 188 }, (_, step) =>
  Math.min(86_400, FULL_PACE_SECONDS * 1.05 ** step),
);

/** The first pace of the ladder that can be afforded; the last one if none can. */
function fastest(isAffordable: (pace: number) => boolean): number {
  let [low, high] = [0, LADDER.length - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isAffordable(LADDER[middle] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return LADDER[low] ?? FULL_PACE_SECONDS;
}

/** What is kept for pulls alone suffices for it, whatever the rest of the share was spent on. */
const slowestPace = (costs: (pace: number) => number, most: number): number =>
  LADDER.find((pace) => pace >= SLOWEST_SECONDS && HOURS * costs(pace) <= KEPT_FOR_PULLS * most) ?? 86_400;

/**
 * While all doorbells ring without end, an hour takes a quarter of the calls that neither loads nor what is expected to
 * change will want: when few are left, polls alone read.
 */
const ringSeconds = (mappings: number, leftCalls: number): number =>
  Math.round(Math.max(SHORTEST_RING_SECONDS, (4 * HOUR_SECONDS * mappings) / Math.max(1, leftCalls)));

/**
 * When a ring of now may pull, two seconds after the last pull or later: rings until then come to one. Null: the share
 * is so short that its change waits for the next poll, which comes as soon and shares its calls with other mappings.
 */
export function rungPullAt(plan: Plan | null, lastPullAt: Date | null, now: Date): Date | null {
  const seconds = plan?.ringSeconds ?? SHORTEST_RING_SECONDS;
  if (seconds >= RUNG_SECONDS) return null;
  return new Date(Math.max(now.getTime(), (lastPullAt?.getTime() ?? 0) + seconds * 1000));
}

const sum = (many: number, of: (at: number) => number): number =>
  Array.from({ length: many }, (_, at) => of(at)).reduce((total, one) => total + one, 0);
