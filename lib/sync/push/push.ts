import { isChecked } from "../../model/calls/check-before-save.ts";
import type { ClaimedChange } from "../../model/change/change.ts";
import { type Folded, fold } from "../../model/change/fold.ts";
import { BATCH_SIZE, JOB_RECORDS } from "../../model/change/ways.ts";
import { pulls } from "../../model/mapping/mapping.ts";
import type { Cycle } from "../cycle/cycle.ts";
import type { PushOutcome } from "../ports/push-ports.ts";
import { readAgain } from "../pull/read-page.ts";
import { type Changed, checkRecords, judgeChanged } from "./check-records.ts";
import { giveBack, isTaken, type PushProgress, settle, startPushProgress } from "./push-progress.ts";
import { removeOutside } from "./remove-outside.ts";
import { sendBatch } from "./send-batch.ts";
import { sendByBulk } from "./send-by-bulk.ts";

/** Changes claimed at a time: enough for a job of the Bulk API, or too few for one while enough of them are at work. */
const CLAIM_LIMIT = JOB_RECORDS;
const SMALL_CLAIM_LIMIT = 2_000;
const JOBS_AT_WORK = 3;

/** What one push is asked to do. */
export interface PushOrder {
  /** Settles the claimed changes of rows whose insert is in doubt; answers the others. */
  readonly settleEdited: (
    sending: PushProgress,
    claimed: readonly ClaimedChange[],
  ) => Promise<readonly ClaimedChange[]>;
  /** The org has refused saves for reasons of its own, and may do so still: each kind of save begins with one call. */
  readonly probes: boolean;
  /** Whether its time slice is over: it ends before its next call then. */
  readonly isOver: () => boolean;
  /** Null: records are saved without a check. */
  readonly checks: {
    /** Up to which stamp every record was read after its second; null: that is not known. */
    readonly settledUntil: Date | null;
    /** When everything that had changed was read last (epoch milliseconds). */
    readonly checkedAt: number;
  } | null;
}

/**
 * Rows to Salesforce: claim, fold, send one batch after another, settle each, until nothing is due. A job of the Bulk
 * API that takes long is left running, and the push ends with it. Rejects with the org's refusal once all else is
 * settled. True: its time slice is over, and more may be due.
 */
export async function push(cycle: Cycle, order: PushOrder): Promise<boolean> {
  const sending = startPushProgress();
  try {
    for (let goesOn = true; goesOn; ) {
      await cycle.hold.mayRead();
      const judged = sending.judged.size;
      goesOn = await send(cycle, sending, order, await claim(cycle, sending));
      // Changes that came too early, or behind a job that is left; where the org refuses, all that was not sent.
      await giveBack(cycle, sending);
      await removeOutside(cycle, sending);
      if (sending.refusal) throw sending.refusal;
      // What was judged just now goes before another pull reads the same.
      if (goesOn && sending.judged.size === judged && order.isOver()) return true;
    }
    return false;
  } catch (error) {
    await giveBack(cycle, sending).catch((cause: unknown) => {
      // The next holder of the lease finds out what was sent, and gives back the rest.
      cycle.tally.notes.push(`a stopped push could not give its changes back: ${String(cause)}`);
    });
    throw error;
  }
}

async function claim(cycle: Cycle, { unsent }: PushProgress): Promise<readonly ClaimedChange[]> {
  const limit = cycle.tally.jobsWaiting < JOBS_AT_WORK ? CLAIM_LIMIT : SMALL_CLAIM_LIMIT;
  const claimed = await cycle.store.claim(cycle.lease, limit);
  // What was sent once and is in doubt is never to be sent by giving it back.
  for (const { id, sent } of claimed) if (!sent) unsent.add(id);
  return claimed;
}

/** False: nothing more is due, or a job was left at work and what was to follow it goes back until later. */
async function send(
  cycle: Cycle,
  sending: PushProgress,
  { settleEdited, probes, isOver, checks }: PushOrder,
  claimed: readonly ClaimedChange[],
): Promise<boolean> {
  if (claimed.length === 0) return false;
  const folded = fold(cycle.shape, await settleEdited(sending, claimed), sending.behind);
  sending.batches = folded.batches;
  await settle(cycle, sending, withoutSending(cycle, folded));
  // Salesforce's values of fields that it does not let us write.
  if (pulls(cycle.mapping.syncDirection)) {
    await readAgain(cycle, [...new Set(folded.settled.flatMap(({ unwritable }) => unwritable?.sfid ?? []))], "slow");
  }
  // A check looks at the records of these rows alone: what is claimed next was not seen by it.
  let checkedAt = checks?.checkedAt ?? 0;
  const changed: Changed[] = [];
  for (const [index, { way, operation, writes }] of folded.batches.entries()) {
    if (index > 0 && isOver()) return true;
    if (checks !== null && (index === 0 || way === "bulk") && !isChecked(checkedAt, cycle.clock.now())) {
      const left = folded.batches.slice(index).flatMap((batch) => batch.writes);
      checkedAt = cycle.clock.now();
      changed.push(...(await checkRecords(cycle, sending, left, checks.settledUntil)));
    }
    // What the org refuses a call's worth of, it is not sent a whole job of.
    const first = way === "soap" ? writes : writes.slice(0, probes ? BATCH_SIZE : 0);
    const rest = writes.slice(first.length);
    if (first.length > 0 && isTaken(sending, operation)) await sendBatch(cycle, sending, { operation, writes: first });
    if (rest.length === 0 || !isTaken(sending, operation)) continue;
    if (!(await sendByBulk(cycle, sending, { operation, writes: rest }))) return false;
  }
  // Only now, so that no other row waits between its check and its save.
  await judgeChanged(cycle, sending, changed);
  // Early changes need what another one creates; when nothing was sent, they would be claimed in vain again.
  return folded.batches.length > 0 || folded.early.length === 0;
}

function withoutSending({ mapping }: Cycle, { settled, recordless, refused }: Folded): PushOutcome[] {
  const back = pulls(mapping.syncDirection) ? "; Salesforce's value is back" : "";
  return [
    ...settled.map(({ unwritable, ...ended }): PushOutcome => {
      const message = unwritable && { message: `not writable: ${unwritable.fields.join(", ")}${back}` };
      return { ...ended, ...message, kind: "settled" };
    }),
    ...recordless.map((ended) => ({ ...ended, kind: "held" }) as const),
    ...refused.map((ended) => ({ ...ended, kind: "refused" }) as const),
  ];
}
