import { Heap } from "../../heap.ts";

/** A message as the order of its queue sees it; all else of it is in the store. */
export interface Held {
  readonly seq: number;
  readonly groupId: string | null;
  readonly sentAt: number;
  visibleAt: number;
  receiveCount: number;
  /** Proof of the last receipt, part of the receipt handle. Null until received. */
  receipt: string | null;
}

type State = "ready" | "delayed" | "inFlight";

interface Entry {
  readonly held: Held;
  readonly group: Group;
  state: State | "gone";
  /** The later it became ready, the higher. */
  turn: number;
  /** When it was received, or hidden again. */
  since: number;
}

/** A group is noisy with more than this share of what is in flight, from so many on, or of the recent processing time. */
const NOISY_SHARE = 0.1;
const NOISY_IN_FLIGHT = 30;

/** A group that gave no further cause for this long is quiet again; processing time of so long is recent. */
const MINUTES = 5;
const MINUTE = 60_000;

/** The time for which messages were in flight, of the latest minutes. */
class ProcessingTime {
  readonly #byMinute = new Map<number, number>();

  add(now: number, milliseconds: number): void {
    const minute = Math.floor(now / MINUTE);
    this.#byMinute.set(minute, (this.#byMinute.get(minute) ?? 0) + milliseconds);
  }

  sum(now: number): number {
    let sum = 0;
    for (const [minute, milliseconds] of this.#byMinute) {
      if (minute > Math.floor(now / MINUTE) - MINUTES) sum += milliseconds;
      else this.#byMinute.delete(minute);
    }
    return sum;
  }

  clear(): void {
    this.#byMinute.clear();
  }
}

/** The messages of one tenant in one queue. */
class Group {
  readonly isCounted: boolean;
  readonly ready: Entry[] = [];
  members = 0;
  inFlight = 0;
  readonly processing = new ProcessingTime();
  /** Null: it is quiet. */
  noisyUntil: number | null = null;
  /** Its place in the ranking; any other place of it there is stale. */
  place: Place | null = null;
  #first = 0;

  /** Messages without a group belong to none, and are never noisy. */
  constructor(groupId: string | null) {
    this.isCounted = groupId !== null;
  }

  /** The message that has been ready longest, skipping those removed meanwhile. */
  peek(): Entry | undefined {
    let entry = this.ready[this.#first];
    while (entry && entry.state !== "ready") entry = this.ready[++this.#first];
    if (this.#first > 1_000 && this.#first * 2 > this.ready.length) {
      this.ready.splice(0, this.#first);
      this.#first = 0;
    }
    return entry;
  }
}

interface Place {
  readonly group: Group;
  readonly isNoisy: boolean;
  readonly turn: number;
}

interface Due {
  readonly at: number;
  readonly entry: Entry;
}

const byTime = (a: Due, b: Due) => a.at - b.at || a.entry.held.seq - b.entry.held.seq;
const byFairness = (a: Place, b: Place) => Number(a.isNoisy) - Number(b.isNoisy) || a.turn - b.turn;

/** Stale places are left behind by every change: beyond this many for each that counts, they are cleared away. */
const MOST_STALE = 4;
const SLACK = 100;

/**
 * The order in which the messages of one queue are received: quiet groups before noisy ones (fair queues), of both the
 * message that has been ready longest. A group is judged whenever one of its messages comes, is received or goes; a noisy
 * one is quiet again when it has no backlog left. Times are epoch milliseconds.
 */
export class Backlog {
  readonly counts: Record<State, number> = { ready: 0, delayed: 0, inFlight: 0 };
  readonly #entries = new Map<number, Entry>();
  readonly #groups = new Map<string | null, Group>();
  readonly #noisy = new Set<Group>();
  readonly #processing = new ProcessingTime();
  #now: number;
  #turns = 0;
  #due = new Heap(byTime);
  #ranking = new Heap(byFairness);

  constructor(now = 0) {
    this.#now = now;
  }

  get(seq: number): Held | undefined {
    return this.#entries.get(seq)?.held;
  }

  all(): Held[] {
    return [...this.#entries.values()].map((entry) => entry.held);
  }

  isInFlight(held: Held): boolean {
    return this.#entries.get(held.seq)?.state === "inFlight";
  }

  /** Takes in a message that waits until its `visibleAt`, because it is delayed or was received. */
  add(held: Held): void {
    const group = this.#groups.get(held.groupId) ?? new Group(held.groupId);
    this.#groups.set(held.groupId, group);
    const entry: Entry = { held, group, state: "gone", turn: 0, since: this.#now };
    this.#entries.set(held.seq, entry);
    group.members += 1;
    this.#wait(entry);
  }

  /** Moves a message to another time, or to another receipt. */
  wait(held: Held): void {
    const entry = this.#entries.get(held.seq);
    if (entry) this.#wait(entry);
  }

  remove(held: Held): void {
    const entry = this.#entries.get(held.seq);
    if (!entry) return;
    this.#entries.delete(held.seq);
    this.#enter(entry, "gone");
    entry.group.members -= 1;
    if (entry.group.members === 0) this.#groups.delete(held.groupId);
  }

  /** Makes messages ready that are due, and groups quiet that gave no cause for long enough. */
  catchUp(now: number): void {
    this.#now = now;
    for (const group of this.#noisy) if ((group.noisyUntil ?? 0) <= now) this.#quiet(group);
    for (let next = this.#nextDue(); next && next.at <= now; next = this.#nextDue()) {
      this.#due.pop();
      next.entry.turn = ++this.#turns;
      next.entry.group.ready.push(next.entry);
      this.#enter(next.entry, "ready");
    }
  }

  /** When the next waiting message becomes due, if one waits. */
  nextDue(): number | undefined {
    return this.#nextDue()?.at;
  }

  /** The message to be received next. It stays where it is: `wait` or `remove` moves it on. */
  peek(): Held | undefined {
    for (let place = this.#ranking.peek(); place; place = this.#ranking.peek()) {
      const first = place === place.group.place ? place.group.peek() : undefined;
      if (first) return first.held;
      this.#ranking.pop();
    }
    return undefined;
  }

  #nextDue(): Due | undefined {
    for (let next = this.#due.peek(); next; next = this.#due.peek()) {
      if (isWaiting(next)) return next;
      this.#due.pop();
    }
    return undefined;
  }

  #wait(entry: Entry): void {
    this.#enter(entry, entry.held.receipt === null ? "delayed" : "inFlight");
    this.#due.push({ at: entry.held.visibleAt, entry });
    if (this.#due.size > SLACK + MOST_STALE * (this.counts.delayed + this.counts.inFlight)) {
      this.#due = this.#due.filtered(isWaiting);
    }
  }

  #enter(entry: Entry, state: State | "gone"): void {
    const { group } = entry;
    if (entry.state !== "gone") this.counts[entry.state] -= 1;
    if (entry.state === "inFlight") {
      group.inFlight -= 1;
      for (const time of [group.processing, this.#processing]) time.add(this.#now, this.#now - entry.since);
    }
    entry.state = state;
    entry.since = this.#now;
    if (state !== "gone") this.counts[state] += 1;
    if (state === "inFlight") group.inFlight += 1;
    if (group.isCounted) this.#judge(group);
    this.#rank(group);
  }

  #judge(group: Group): void {
    if (group.inFlight === 0 && group.peek() === undefined) {
      group.processing.clear();
      this.#quiet(group);
    } else if (this.#isNoisy(group)) {
      group.noisyUntil = this.#now + MINUTES * MINUTE;
      this.#noisy.add(group);
    }
  }

  #isNoisy({ inFlight, processing }: Group): boolean {
    if (inFlight >= NOISY_IN_FLIGHT && inFlight > this.counts.inFlight * NOISY_SHARE) return true;
    return processing.sum(this.#now) > this.#processing.sum(this.#now) * NOISY_SHARE;
  }

  #quiet(group: Group): void {
    group.noisyUntil = null;
    this.#noisy.delete(group);
    this.#rank(group);
  }

  #rank(group: Group): void {
    const turn = group.peek()?.turn;
    const isNoisy = group.noisyUntil !== null;
    if (group.place?.turn === turn && group.place?.isNoisy === isNoisy) return;
    group.place = turn === undefined ? null : { group, isNoisy, turn };
    if (group.place) this.#ranking.push(group.place);
    if (this.#ranking.size > SLACK + MOST_STALE * this.#groups.size) {
      this.#ranking = this.#ranking.filtered((place) => place === place.group.place);
    }
  }
}

function isWaiting({ at, entry }: Due): boolean {
  return entry.held.visibleAt === at && (entry.state === "delayed" || entry.state === "inFlight");
}
