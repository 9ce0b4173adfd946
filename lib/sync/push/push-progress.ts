import type { Folded, Write } from "../../model/change/fold.ts";
import { type RequestRefusal, SalesforceRefusal } from "../../model/change/refusal.ts";
import type { Operation } from "../../model/record/record.ts";
import type { Cycle } from "../cycle/cycle.ts";
import { LeaseLost } from "../ports/lease-ports.ts";
import type { PushOutcome } from "../ports/push-ports.ts";
import { hasPassedOn, requeueLateSaves } from "./requeue-late-saves.ts";

/** What became so far of the changes that were claimed. */
export interface PushProgress {
  /** Changes that are claimed, not sent and not settled. */
  readonly unsent: Set<number>;
  /** Writes to be tried again, and after how many seconds. */
  readonly delayed: Map<Write, number>;
  /** Records that the pull has judged since this push began, each with the stamp that it had (epoch milliseconds). */
  readonly judged: Map<string, number>;
  /** Records whose rows could not take what Salesforce has changed, because a transaction holds them. */
  readonly busy: Set<string>;
  /** What is being sent, and which records of it give a unique value up to which. */
  batches: Folded["batches"];
  readonly behind: Map<string, string>;
  /** Records that our saves may have moved out of the mapping's filter. */
  readonly mayHaveLeft: Set<string>;
  /** What the org has answered records with that is not about them; they are among `unsent`, and the push ends with it. */
  refusal: SalesforceRefusal | null;
}

export const startPushProgress = (): PushProgress => ({
  unsent: new Set(),
  delayed: new Map(),
  judged: new Map(),
  busy: new Set(),
  batches: [],
  behind: new Map(),
  mayHaveLeft: new Set(),
  refusal: null,
});

/** The writes that nothing holds back. What follows a retry waits as long. */
export async function ready(cycle: Cycle, sending: PushProgress, writes: readonly Write[]): Promise<readonly Write[]> {
  const going: Write[] = [];
  const waiting: PushOutcome[] = [];
  for (const write of writes) {
    if (sending.delayed.has(write)) continue;
    const afterSeconds = delayBefore(write, sending);
    if (afterSeconds === null) going.push(write);
    else waiting.push(putOff(sending, write, afterSeconds, "waits for an earlier change"));
  }
  await settle(cycle, sending, waiting);
  return going;
}

/** Leaves a write to a later push, as it was, because the org refuses for reasons of its own. */
export function leave(sending: PushProgress, write: Write, refusal: RequestRefusal): void {
  for (const id of write.changeIds) sending.unsent.add(id);
  sending.delayed.set(write, 0);
  sending.refusal ??= new SalesforceRefusal(refusal);
}

/** Whether the org may still take such saves: one without storage takes those that need no more of it. */
export function isTaken({ refusal }: PushProgress, operation: Operation): boolean {
  if (refusal === null) return true;
  return refusal.refusal.kind === "storageFull" && (operation === "update" || operation === "delete");
}

/** Makes changes NEW again that were claimed and neither sent nor settled: these, or all. */
export async function giveBack(
  cycle: Cycle,
  { unsent }: PushProgress,
  ids: readonly number[] = [...unsent],
): Promise<void> {
  if (ids.length === 0) return;
  await cycle.store.release(cycle.lease, ids);
  for (const id of ids) unsent.delete(id);
}

/**
 * Records outcomes; their changes cannot be released any more. Where they come after the lease was lost, what was sent
 * since for the same records is requeued.
 */
export async function settle(cycle: Cycle, sending: PushProgress, outcomes: readonly PushOutcome[]): Promise<void> {
  if (outcomes.length === 0) return;
  try {
    await cycle.store.settle(cycle.lease, outcomes);
  } catch (error) {
    if (error instanceof LeaseLost || (await hasPassedOn(cycle, outcomes, error))) {
      await requeueLateSaves(cycle, outcomes).catch((cause: unknown) => {
        cycle.tally.notes.push(`saves that came after the lease was lost could not be corrected: ${String(cause)}`);
      });
    }
    throw error;
  }
  for (const outcome of outcomes) {
    for (const id of outcome.changeIds) sending.unsent.delete(id);
    cycle.tally[COUNTED_AS[outcome.kind]] += 1;
  }
}

const COUNTED_AS = {
  accepted: "accepted",
  refused: "refused",
  retry: "retried",
  settled: "settled",
  givenUp: "settled",
  held: "retried",
} as const;

function delayBefore({ after }: Write, { delayed }: PushProgress): number | null {
  const delays = after.flatMap((earlier) => delayed.get(earlier) ?? []);
  return delays.length > 0 ? Math.max(...delays) : null;
}

/** Has a write sent again after so many seconds, and what follows it not before; `counts`: it was one of its attempts. */
export function putOff(
  { delayed }: PushProgress,
  write: Write,
  afterSeconds: number,
  error: string,
  { counts = false } = {},
): PushOutcome {
  delayed.set(write, afterSeconds);
  const { changeIds, recordId } = write;
  return { changeIds, recordId, kind: "retry", afterSeconds, counts, error };
}
