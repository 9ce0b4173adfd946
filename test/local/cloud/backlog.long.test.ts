import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Backlog, type Held } from "../../../lib/local/cloud/sqs/backlog.ts";
import { longTest } from "../../support/run/whole-grid.ts";

/** The same promises in the plainest way: every message in one list, searched again each time. */
class PlainBacklog {
  messages: Array<Held & { turn: number | null }> = [];
  readonly #processing = new Map<string | null, number>();
  readonly #noisy = new Set<string | null>();
  readonly #since = new Map<number, number>();
  #processed = 0;
  #now = 0;
  #turns = 0;

  catchUp(now: number): void {
    this.#now = now;
    const due = this.messages.filter(({ turn, visibleAt }) => turn === null && visibleAt <= now);
    due.sort((a, b) => a.visibleAt - b.visibleAt || a.seq - b.seq);
    for (const message of due) {
      this.#end(message);
      message.turn = ++this.#turns;
      this.#judge(message.groupId);
    }
  }

  add(held: Held): void {
    this.messages.push({ ...held, turn: null });
    this.#judge(held.groupId);
  }

  hide(message: PlainBacklog["messages"][number], visibleAt: number): void {
    this.#end(message);
    Object.assign(message, { visibleAt, receipt: "r", turn: null });
    this.#since.set(message.seq, this.#now);
    this.#judge(message.groupId);
  }

  remove(message: PlainBacklog["messages"][number]): void {
    this.#end(message);
    this.messages.splice(this.messages.indexOf(message), 1);
    this.#judge(message.groupId);
  }

  /** What was in flight has been processed for so long. */
  #end({ groupId, seq, turn, receipt }: PlainBacklog["messages"][number]): void {
    if (turn !== null || receipt === null) return;
    const milliseconds = this.#now - (this.#since.get(seq) ?? this.#now);
    this.#processing.set(groupId, (this.#processing.get(groupId) ?? 0) + milliseconds);
    this.#processed += milliseconds;
  }

  /** All of a test lies within the minutes that are recent. */
  #judge(groupId: string | null): void {
    const isReady = this.messages.some((message) => message.groupId === groupId && message.turn !== null);
    const inFlight = this.inFlight(groupId);
    if (groupId === null) return;
    if (!isReady && inFlight === 0) {
      this.#processing.delete(groupId);
      this.#noisy.delete(groupId);
    } else if ((this.#processing.get(groupId) ?? 0) > this.#processed / 10) this.#noisy.add(groupId);
    else if (inFlight >= 30 && inFlight > this.inFlight() / 10) this.#noisy.add(groupId);
  }

  peek(): number | undefined {
    const rank = ({ groupId }: Held) => Number(this.#noisy.has(groupId));
    const ready = this.messages.filter(({ turn }) => turn !== null);
    const [first] = ready.sort((a, b) => rank(a) - rank(b) || Number(a.turn) - Number(b.turn));
    return first?.seq;
  }

  inFlight(groupId?: string | null): number {
    const of = this.messages.filter((message) => groupId === undefined || message.groupId === groupId);
    return of.filter(({ turn, receipt }) => turn === null && receipt !== null).length;
  }
}

/** A queue and its plain twin, which live through the same. */
class Twins {
  readonly backlog = new Backlog();
  readonly plain = new PlainBacklog();
  #now = 0;
  #seq = 0;

  pass(time: number): void {
    this.#now += time;
    this.backlog.catchUp(this.#now);
    this.plain.catchUp(this.#now);
  }

  send(groupId: string | null, delay: number): void {
    const visibleAt = this.#now + delay;
    const held = { seq: ++this.#seq, groupId, sentAt: this.#now, visibleAt, receiveCount: 0, receipt: null };
    this.backlog.add({ ...held });
    this.plain.add(held);
  }

  receive(hides: number): void {
    this.#hide(this.plain.peek(), hides);
  }

  release(nth: number, hides: number): void {
    const inFlight = this.plain.messages.filter(({ turn, receipt }) => turn === null && receipt !== null);
    this.#hide(inFlight[nth % inFlight.length || 0]?.seq, hides);
  }

  delete(nth: number): void {
    const gone = this.plain.messages[nth % this.plain.messages.length || 0];
    const held = this.backlog.get(gone?.seq ?? 0);
    if (!gone || !held) return;
    this.plain.remove(gone);
    this.backlog.remove(held);
  }

  #hide(seq: number | undefined, hides: number): void {
    const [plain, held] = [this.plain.messages.find((message) => message.seq === seq), this.backlog.get(seq ?? 0)];
    if (!plain || !held) return;
    this.plain.hide(plain, this.#now + hides);
    Object.assign(held, { visibleAt: this.#now + hides, receipt: "r" });
    this.backlog.wait(held);
  }
}

type Step = (twins: Twins) => void;

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(fc.constantFrom(null, "a", "b", "c"), fc.constantFrom(0, 0, 3, 9)).map(
    ([group, delay]): Step =>
      (twins) =>
        twins.send(group, delay),
  ),
  fc.constantFrom(0, 2, 5).map(
    (hides): Step =>
      (twins) =>
        twins.receive(hides),
  ),
  fc.tuple(fc.nat(30), fc.constantFrom(0, 4)).map(
    ([nth, hides]): Step =>
      (twins) =>
        twins.release(nth, hides),
  ),
  fc.nat(30).map(
    (nth): Step =>
      (twins) =>
        twins.delete(nth),
  ),
  fc.nat(4).map(
    (time): Step =>
      (twins) =>
        twins.pass(time),
  ),
);

test("a queue gives its messages as its rules say, in whatever order they are sent, received, released and deleted", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const twins = new Twins();
      for (const take of steps) {
        take(twins);
        twins.pass(0);

        const { backlog, plain } = twins;
        expect(backlog.peek()?.seq).toBe(plain.peek());
        expect(backlog.counts.inFlight).toBe(plain.inFlight());
        expect(backlog.counts.ready).toBe(plain.messages.filter(({ turn }) => turn !== null).length);
      }
    }),
    { numRuns: 500 },
  );
});

longTest("a queue that runs for weeks holds no more memory than the messages in it need", () => {
  const backlog = new Backlog();
  let seq = 0;
  const passThrough = (messages: number) => {
    for (const last = seq + messages; seq < last; ) {
      backlog.add({ seq: ++seq, groupId: `g${seq % 7}`, sentAt: 0, visibleAt: 0, receiveCount: 0, receipt: null });
      backlog.catchUp(0);
      const held = backlog.peek();
      if (!held) throw new Error("the message just sent is not there");
      backlog.wait(Object.assign(held, { receipt: "r", visibleAt: 3_600_000 }));
      backlog.remove(held);
    }
  };
  passThrough(50_000);
  const before = usedBytes();

  passThrough(300_000);

  expect(usedBytes() - before).toBeLessThan(2_000_000);
});

function usedBytes(): number {
  setFlagsFromString("--expose_gc");
  runInNewContext("gc")();
  return process.memoryUsage().heapUsed;
}
