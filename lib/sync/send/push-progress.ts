import type { Write } from "../../model/change/fold.ts";
import { type RequestRefusal, SalesforceRefusal } from "../../model/change/refusal.ts";
import type { Operation } from "../../model/record/record.ts";
import type { Cycle } from "../cycle/cycle.ts";
import { LeaseLost, type PushOutcome } from "../cycle/ports.ts";
import { hasPassedOn, putRight } from "./requeue-late-saves.ts";

/** What became so far of the changes that were claimed. */
export interface Sending {
  /** Changes that are claimed, not sent and not settled. */
  readonly unsent: Set<number>;
  /** Writes to be tried again, and after how many seconds. */
  readonly delayed: Map<Write, number>;
  /** What came of the last call, to be written down while the next one is under way. */
  owed: readonly PushOutcome[];
  /** The writing down of a job's results that is under way; whoever writes the next ones, or ends, awaits it. */
  writing: Promise<void>;
  /** What the org has answered records with that is not about them; they are among `unsent`, and the push ends with it. */
  refusal: SalesforceRefusal | null;
}

export function startSending(): Sending {
  return { unsent: new Set(), delayed: new Map(), owed: [], writing: Promise.resolve(), refusal: null };
}

/** The writes that nothing holds back. What follows one that is to be tried again waits as long, which is owed. */
export function ready(sending: Sending, writes: readonly Write[]): readonly Write[] {
  const going: Write[] = [];
  const waiting: PushOutcome[] = [];
  for (const write of writes) {
    const afterSeconds = delayBefore(write, sending);
    if (afterSeconds === null) going.push(write);
    else waiting.push(putOff(sending, write, afterSeconds));
  }
  sending.owed = [...sending.owed, ...waiting];
  return going;
}

/** Leaves a write to a later push, as it was, because the org refuses for reasons of its own. */
export function leave(sending: Sending, write: Write, refusal: RequestRefusal): void {
  for (const id of write.changeIds) sending.unsent.add(id);
  sending.delayed.set(write, 0);
  sending.refusal ??= new SalesforceRefusal(refusal);
}

/** Whether the org may still take such saves: one without storage takes those that need no more of it. */
export function isTaken({ refusal }: Sending, operation: Operation): boolean {
  if (refusal === null) return true;
  return refusal.refusal.kind === "storageFull" && (operation === "update" || operation === "delete");
}

/** Makes changes NEW again that were claimed and neither sent nor settled. */
export async function giveBack(cycle: Cycle, { unsent }: Sending): Promise<void> {
  if (unsent.size === 0) return;
  await cycle.store.release(cycle.lease, [...unsent]);
  unsent.clear();
}

/** Writes down what came of the last call. */
export async function settleOwed(cycle: Cycle, sending: Sending): Promise<void> {
  const { owed } = sending;
  sending.owed = [];
  await settle(cycle, sending, owed);
}

/** Writes down outcomes; their changes are nobody's to give back any more. */
export async function settle(cycle: Cycle, sending: Sending, outcomes: readonly PushOutcome[]): Promise<void> {
  if (outcomes.length === 0) return;
  await settleOrPutRight(cycle, outcomes);
  note(cycle, sending, outcomes);
}

/**
 * The same for what came of a job, while the next results are read: `writing` tells when it is done. A job was started in
 * time or not at all, so nothing newer can have gone before it.
 */
export async function settleJobs(cycle: Cycle, sending: Sending, outcomes: readonly PushOutcome[]): Promise<void> {
  if (outcomes.length === 0) return;
  await sending.writing;
  sending.writing = cycle.store.settle(cycle.lease, outcomes).then(() => note(cycle, sending, outcomes));
  // Whoever awaits it meets its failure; nobody does when the work ends before.
  sending.writing.catch(() => undefined);
}

function note(cycle: Cycle, sending: Sending, outcomes: readonly PushOutcome[]): void {
  for (const outcome of outcomes) {
    for (const id of outcome.changeIds) sending.unsent.delete(id);
    cycle.tally[COUNTED_AS[outcome.kind]] += 1;
  }
}

async function settleOrPutRight(cycle: Cycle, outcomes: readonly PushOutcome[]): Promise<void> {
  try {
    await cycle.store.settle(cycle.lease, outcomes);
  } catch (error) {
    if (error instanceof LeaseLost || (await hasPassedOn(cycle, outcomes, error))) {
      await putRight(cycle, outcomes).catch((cause: unknown) => {
        cycle.tally.notes.push(`saves that came after the lease was lost could not be put right: ${String(cause)}`);
      });
    }
    throw error;
  }
}

const COUNTED_AS = { accepted: "accepted", refused: "refused", retry: "retried", settled: "settled" } as const;

function delayBefore({ after }: Write, { delayed }: Sending): number | null {
  const delays = after.flatMap((earlier) => delayed.get(earlier) ?? []);
  return delays.length > 0 ? Math.max(...delays) : null;
}

function putOff({ delayed }: Sending, write: Write, afterSeconds: number): PushOutcome {
  delayed.set(write, afterSeconds);
  const { changeIds, recordId } = write;
  return { changeIds, recordId, kind: "retry", afterSeconds, counts: false, error: "waits for an earlier change" };
}
