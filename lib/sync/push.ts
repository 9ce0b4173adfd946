import { type Folded, fold } from "../model/fold.ts";
import { JOB_RECORDS } from "../model/ways.ts";
import type { Cycle } from "./cycle.ts";
import type { Doubtful } from "./doubtful.ts";
import { lookUpAgain } from "./look-up-again.ts";
import type { ClaimedChange, PushOutcome } from "./ports.ts";
import { sendBatch } from "./send-batch.ts";
import { sendByBulk } from "./send-by-bulk.ts";
import { type Sending, settle, settleOwed, startSending } from "./sending.ts";
import { settleLookedUp } from "./settle-doubts.ts";

/** Changes claimed at a time: enough for a job of the Bulk API, or too few for one while enough of them are at work. */
const CLAIM_LIMIT = JOB_RECORDS;
const SMALL_CLAIM_LIMIT = 2_000;
const JOBS_AT_WORK = 3;

/** Rows to Salesforce: claim, fold, send in batches, settle, until nothing is due. `inDoubt`: inserts that still wait. */
export async function push(cycle: Cycle, inDoubt: readonly Doubtful[]): Promise<void> {
  for (;;) {
    await cycle.hold.mayRead();
    const limit = cycle.tally.jobsWaiting < JOBS_AT_WORK ? CLAIM_LIMIT : SMALL_CLAIM_LIMIT;
    const claimed = await cycle.store.claim(cycle.lease, limit);
    if (claimed.length === 0) return;
    const { again, others } = apart(claimed);
    const folded = fold(cycle.shape, others);
    // What was sent once and is in doubt is never to be sent by giving it back.
    const sending = startSending(claimed.flatMap(({ id, sent }) => (sent ? [] : [id])));
    if (!(await inOrder(cycle, sending, () => send(cycle, sending, folded, again, inDoubt)))) return;
    // Early changes need what another one creates; when nothing was sent, they would be claimed in vain again.
    if (folded.batches.length === 0 && folded.early.length > 0) return;
  }
}

/** Rows whose insert ended in doubt and that were changed since are looked up again, the others go. */
function apart(claimed: readonly ClaimedChange[]) {
  const inDoubt = new Set(claimed.flatMap(({ recordId, sent }) => (sent ? [recordId] : [])));
  const { again = [], others = [] } = Object.groupBy(claimed, ({ recordId }) =>
    inDoubt.has(recordId) ? "again" : "others",
  );
  return { again, others };
}

/** False: a job was left at work, and what was to follow it goes back until later. */
async function send(
  cycle: Cycle,
  sending: Sending,
  folded: Folded,
  again: readonly ClaimedChange[],
  inDoubt: readonly Doubtful[],
): Promise<boolean> {
  if (again.length > 0) await settleLookedUp(cycle, sending, await lookUpAgain(cycle, again, inDoubt));
  await settle(cycle, sending, withoutSending(folded));
  for (const batch of folded.batches) {
    if (batch.way === "soap") await sendBatch(cycle, sending, batch);
    else if (!(await sendByBulk(cycle, sending, batch))) return false;
  }
  return true;
}

/** Whatever becomes of the work, its results are written down and what was not sent is given back. */
async function inOrder(cycle: Cycle, sending: Sending, work: () => Promise<boolean>): Promise<boolean> {
  let isDone: boolean;
  try {
    isDone = await work();
    await settleOwed(cycle, sending);
  } catch (error) {
    await leaveInOrder(cycle, sending).catch((cause: unknown) => {
      // The next holder of the lease finds out what was sent, and gives back the rest.
      cycle.tally.notes.push(`a stopped push could not be left in order: ${String(cause)}`);
    });
    throw error;
  }
  await giveBack(cycle, sending);
  return isDone;
}

function withoutSending({ settled, refused }: Folded): PushOutcome[] {
  return [
    ...settled.map((ended) => ({ ...ended, kind: "settled" }) as const),
    ...refused.map((ended) => ({ ...ended, kind: "refused" }) as const),
  ];
}

async function leaveInOrder(cycle: Cycle, sending: Sending): Promise<void> {
  await settleOwed(cycle, sending);
  await giveBack(cycle, sending);
}

/** Early changes; and when a cycle stops, everything that was not sent. */
async function giveBack(cycle: Cycle, { unsent }: Sending): Promise<void> {
  if (unsent.size > 0) await cycle.store.release(cycle.lease, [...unsent]);
}
