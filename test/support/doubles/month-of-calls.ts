import { lastChange } from "../../../lib/model/calls/account.ts";
import { QUERIES_PER_CALL } from "../../../lib/model/calls/forecast.ts";
import { everySeconds, isPullDue, isQuiet } from "../../../lib/model/calls/interval.ts";
import { type HourOfCalls, type Plan, planCalls, rungPullAt, type Share } from "../../../lib/model/calls/plan.ts";

/** An org and what happens in it, for a planner that has nothing else. */
export interface Story {
  readonly mappings: number;
  readonly limit: number;
  readonly share: Share;
  readonly days: number;
  /** Seconds between pulls while nothing changes; left out: as otherwise. */
  readonly whenQuiet?: number;
  /** Whether records change in Salesforce, by the second of the story; left out: always. */
  readonly changes?: (second: number) => boolean;
  /** Doorbells of all mappings ring without end. */
  readonly rings?: boolean;
  /** Calls a minute of other clients, by the minute of the story. */
  readonly others?: (minute: number) => number;
  /** Calls that saves want in a beat, by the second of the story. */
  readonly saves?: (second: number) => number;
  /** Calls that a load wants to make at once, by the minute of the story. */
  readonly loads?: (minute: number) => number;
}

const BEAT = 10;
const DAY_MINUTES = 1_440;
const START = Date.UTC(2026, 1, 2) / 1000 + 17 * 60;

/** Between eight and six, by UTC. */
export const isBusiness = (minute: number): boolean =>
  Math.floor((minute + 17) / 60) % 24 >= 8 && Math.floor((minute + 17) / 60) % 24 < 18;

/** Ten minutes of each hour of business. */
const isBurst = (second: number): boolean => isBusiness(second / 60) && second % 3_600 < 600;

/** Those are full of saves, and every other day a load wants to read. */
export const BURSTS: Partial<Story> = {
  saves: (second) => (isBurst(second) ? 2 : isBusiness(second / 60) ? 0.1 : 0),
  loads: (minute) => (minute % 2_880 === 600 ? 300 : 0),
};

/** In those alone records of each mapping change, and mappings are asked about once a minute while they are quiet. */
export const WHEN_QUIET: Partial<Story> = { changes: isBurst, whenQuiet: 60 };

/** Work that waits until calls are left for it. */
class Queue {
  longest = 0;
  #waiting = 0;
  #since = 0;

  /** Wants so many calls more, and makes those that are allowed now. */
  make(wanted: number, allowed: number, now: number): number {
    if (this.#waiting === 0) this.#since = now;
    this.#waiting += wanted;
    if (this.#waiting === 0) return 0;
    const made = Math.min(this.#waiting, Math.max(0, allowed));
    this.#waiting -= made;
    this.longest = Math.max(this.longest, now - this.#since);
    if (made > 0) this.#since = now;
    return made;
  }
}

/** How long changes wait for their pull. */
class Pulls {
  readonly #waits = new Map<number, number>();
  readonly #isChange: (second: number) => boolean;
  #last = 0;
  longest = 0;

  constructor(isChange: (second: number) => boolean) {
    this.#isChange = isChange;
  }

  get lastAt(): Date {
    return new Date(this.#last * 1000);
  }

  /** Whether the pull of now reads any change. */
  note(now: number): boolean {
    const gap = this.#last === 0 ? 0 : now - this.#last;
    let longest = 0;
    for (let age = 1; age <= gap; age += 1) {
      if (!this.#isChange(now - age - START)) continue;
      this.#waits.set(age, (this.#waits.get(age) ?? 0) + 1);
      longest = age;
    }
    this.longest = Math.max(this.longest, longest);
    this.#last = now;
    return longest > 0;
  }

  quantile(part: number): number {
    const all = [...this.#waits].sort(([one], [other]) => one - other);
    const many = all.reduce((sum, [, times]) => sum + times, 0);
    let passed = 0;
    for (const [age, times] of all) {
      passed += times;
      if (passed >= part * many) return age;
    }
    return 0;
  }
}

/** Calls of the last 24 hours, by the minute. */
class Window {
  readonly #minutes: number[] = [];
  sum = 0;

  add(calls: number): void {
    this.#minutes.push(calls);
    this.sum += calls - (this.#minutes[this.#minutes.length - 1 - DAY_MINUTES] ?? 0);
  }
}

/** Lives through the story beat by beat; each minute makes a new plan from what the minutes before have cost. */
export function liveThrough({ mappings, limit, share, days, others, saves, loads, ...story }: Story) {
  const [ours, theirs, save, load] = [new Window(), new Window(), new Queue(), new Queue()];
  const pulls = new Pulls(story.changes ?? (() => true));
  const hours = new Map<number, HourOfCalls>();
  const most = { ours: 0, all: 0, total: 0 };
  const whenQuiet = story.whenQuiet ?? null;
  let changedAt: Date | null = null;
  const pulling = { pollingSeconds: BEAT, whenQuiet, isQuiet: false, isRung: story.rings === true };

  /** Calls of a minute, and how many of them saved. */
  const minuteOf = (plan: Plan, minute: number) => {
    const spent = { calls: 0, changes: 0 };
    for (let second = 0; second < 60; second += BEAT) {
      const now = START + minute * 60 + second;
      const at = new Date(now * 1000);
      const every = everySeconds({ ...pulling, isQuiet: isQuiet(changedAt, at) }, plan.paceSeconds);
      if (isPullDue("ws_story", every, pulls.lastAt, at)) {
        spent.calls += Math.ceil(mappings / QUERIES_PER_CALL);
        const isNews = pulls.note(now);
        if (isNews) changedAt = at;
        // Each mapping reads what has changed of it.
        const read = isNews && story.changes ? mappings : 0;
        spent.calls += read;
        spent.changes += read;
      }
      const rung = story.rings ? mappings * pullsByRings(plan, pulls, now) : 0;
      spent.calls += rung;
      spent.changes += rung;
      const sent = save.make(saves?.(minute * 60 + second) ?? 0, plan.pushCalls - spent.calls, now);
      spent.calls += sent;
      spent.changes += sent;
      if (sent > 0) changedAt = at;
    }
    spent.calls += load.make(loads?.(minute) ?? 0, plan.spareCalls - spent.calls, START + minute * 60);
    return spent;
  };

  for (let minute = 0; minute < days * DAY_MINUTES; minute += 1) {
    const now = new Date((START + minute * 60) * 1000);
    const usage = { used: ours.sum + theirs.sum, limit, at: now };
    const known = lastDay(hours, now);
    const every = everySeconds({ ...pulling, isQuiet: isQuiet(lastChange(known), now) });
    const asked = Array.from({ length: mappings }, () => ({ everySeconds: every, queries: 1 }));
    const plan = planCalls({ now, usage, share, hours: known, mappings: asked });
    const { calls, changes } = minuteOf(plan, minute);
    ours.add(calls);
    theirs.add(others?.(minute) ?? 0);
    most.ours = Math.max(most.ours, ours.sum);
    most.all = Math.max(most.all, ours.sum + theirs.sum);
    most.total += calls;
    const hour = Math.floor(now.getTime() / 3_600_000);
    const before = hours.get(hour);
    hours.set(hour, { hour, calls: (before?.calls ?? 0) + calls, changes: (before?.changes ?? 0) + changes });
  }
  return {
    /** The most calls of Bridge in any 24 hours, as a part of what the share allows. */
    mostOfShare: most.ours / Math.min(share.share * limit, share.most ?? Number.POSITIVE_INFINITY),
    /** The most calls of all clients in any 24 hours, as a part of the org's limit. */
    mostOfOrg: most.all / limit,
    /** Seconds from a change in Salesforce to the pull that reads it; they come at one rate whenever records change. */
    ...{ p50: pulls.quantile(0.5), p99: pulls.quantile(0.99), longest: pulls.longest },
    callsPerDay: Math.round(most.total / days),
    /** Seconds that saves had to wait at most. */
    longestSave: save.longest,
  };
}

/** Pulls of a beat that rings cause, when they come without end. */
function pullsByRings(plan: Plan, pulls: Pulls, now: number): number {
  let many = 0;
  for (let second = now; second < now + BEAT; second += 2) {
    const at = new Date(second * 1000);
    if ((rungPullAt(plan, pulls.lastAt, at) ?? Number.POSITIVE_INFINITY) > at) continue;
    pulls.note(second);
    many += 1;
  }
  return many;
}

function lastDay(hours: ReadonlyMap<number, HourOfCalls>, now: Date): readonly HourOfCalls[] {
  const hour = Math.floor(now.getTime() / 3_600_000);
  return Array.from({ length: 25 }, (_, age) => hours.get(hour - age)).filter((one) => one !== undefined);
}
