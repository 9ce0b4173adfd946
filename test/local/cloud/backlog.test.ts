import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Backlog, type Held } from "../../../lib/local/cloud/sqs/backlog.ts";

/** The same promises in the plainest way: every message in one list, searched anew each time. */
class PlainBacklog {
  messages: Array<Held & { turn: number | null }> = [];
  #turns = 0;

  catchUp(now: number): void {
    const due = this.messages.filter(({ turn, visibleAt }) => turn === null && visibleAt <= now);
    due.sort((a, b) => a.visibleAt - b.visibleAt || a.seq - b.seq);
    for (const message of due) message.turn = ++this.#turns;
  }

  peek(): number | undefined {
    const rank = ({ groupId }: Held) => (groupId === null ? 0 : this.inFlight(groupId));
    const ready = this.messages.filter(({ turn }) => turn !== null);
    const [first] = ready.sort((a, b) => rank(a) - rank(b) || Number(a.turn) - Number(b.turn));
    return first?.seq;
  }

  inFlight(groupId?: string): number {
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
    this.plain.messages.push({ ...held, turn: null });
  }

  receive(hides: number): void {
    this.#hide(this.plain.peek(), hides);
  }

  release(nth: number, hides: number): void {
    const inFlight = this.plain.messages.filter(({ turn, receipt }) => turn === null && receipt !== null);
    this.#hide(inFlight[nth % inFlight.length || 0]?.seq, hides);
  }

  delete(nth: number): void {
    const [gone] = this.plain.messages.splice(nth % this.plain.messages.length || 0, 1);
    const held = this.backlog.get(gone?.seq ?? 0);
    if (held) this.backlog.remove(held);
  }

  #hide(seq: number | undefined, hides: number): void {
    const [plain, held] = [this.plain.messages.find((message) => message.seq === seq), this.backlog.get(seq ?? 0)];
    if (!plain || !held) return;
    for (const message of [plain, held]) Object.assign(message, { visibleAt: this.#now + hides, receipt: "r" });
    plain.turn = null;
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

test("a queue that runs for weeks holds no more memory than the messages in it need", () => {
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
