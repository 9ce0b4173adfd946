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
}

/** The messages of one tenant in one queue. */
class Group {
  readonly ready: Entry[] = [];
  members = 0;
  inFlight = 0;
  /** Counts changes, so that an older place in the ranking is known to be stale. */
  version = 0;
  #first = 0;

  /** The oldest ready message, skipping those removed meanwhile. */
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
  readonly version: number;
  readonly inFlight: number;
  readonly seq: number;
}

/**
 * The order in which the messages of one queue are received: of the groups with ready messages the one with the
 * fewest in flight comes first (fair queues), of equal ones the one that waits longest. Messages without a group
 * are never held back. Times are epoch milliseconds.
 */
export class Backlog {
  readonly counts: Record<State, number> = { ready: 0, delayed: 0, inFlight: 0 };
  readonly #entries = new Map<number, Entry>();
  readonly #groups = new Map<string | null, Group>();
  readonly #due = new Heap<{ at: number; entry: Entry }>((a, b) => a.at - b.at || a.entry.held.seq - b.entry.held.seq);
  readonly #ranking = new Heap<Place>((a, b) => a.inFlight - b.inFlight || a.seq - b.seq);

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
    const group = this.#groups.get(held.groupId) ?? new Group();
    this.#groups.set(held.groupId, group);
    const entry: Entry = { held, group, state: "gone" };
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

  /** Makes ready what has become due. */
  catchUp(now: number): void {
    for (let next = this.#due.peek(); next && next.at <= now; next = this.#due.peek()) {
      this.#due.pop();
      const { entry, at } = next;
      if (entry.held.visibleAt !== at || (entry.state !== "delayed" && entry.state !== "inFlight")) continue;
      entry.group.ready.push(entry);
      this.#enter(entry, "ready");
    }
  }

  /** When the next waiting message becomes due, if one waits. */
  nextDue(): number | undefined {
    for (let next = this.#due.peek(); next; next = this.#due.peek()) {
      if (next.entry.held.visibleAt === next.at && next.entry.state !== "gone") return next.at;
      this.#due.pop();
    }
    return undefined;
  }

  /** The message to be received next. It stays where it is: `wait` or `remove` moves it on. */
  peek(): Held | undefined {
    for (let place = this.#ranking.peek(); place; place = this.#ranking.peek()) {
      const first = place.version === place.group.version ? place.group.peek() : undefined;
      if (first) return first.held;
      this.#ranking.pop();
    }
    return undefined;
  }

  #wait(entry: Entry): void {
    this.#due.push({ at: entry.held.visibleAt, entry });
    this.#enter(entry, entry.held.receipt === null ? "delayed" : "inFlight");
  }

  #enter(entry: Entry, state: State | "gone"): void {
    const { group } = entry;
    if (entry.state !== "gone") this.counts[entry.state] -= 1;
    if (entry.state === "inFlight") group.inFlight -= 1;
    entry.state = state;
    if (state !== "gone") this.counts[state] += 1;
    if (state === "inFlight") group.inFlight += 1;
    this.#rank(group, entry.held.groupId);
  }

  #rank(group: Group, groupId: string | null): void {
    group.version += 1;
    const first = group.peek();
    if (!first) return;
    const inFlight = groupId === null ? 0 : group.inFlight;
    this.#ranking.push({ group, version: group.version, inFlight, seq: first.held.seq });
  }
}
