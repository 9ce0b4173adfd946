import { type Folded, fold } from "../model/fold.ts";
import type { Cycle } from "./cycle.ts";
import type { ClaimedChange, PushOutcome } from "./ports.ts";
import { type Sending, sendBatch, settle, settleOwed, startSending } from "./send-batch.ts";

/** Changes claimed at a time. */
const CLAIM_LIMIT = 2_000;

/** Rows to Salesforce: claim, fold, send in batches, settle, until nothing is due. */
export async function push(cycle: Cycle): Promise<void> {
  for (;;) {
    await cycle.hold.mayRead();
    const claimed = await cycle.store.claim(cycle.lease, CLAIM_LIMIT);
    if (claimed.length === 0) return;
    const folded = fold(cycle.shape, claimed);
    await send(cycle, claimed, folded);
    // Early changes need what another one creates; when nothing was sent, they would be claimed in vain again.
    if (folded.batches.length === 0 && folded.early.length > 0) return;
  }
}

async function send(cycle: Cycle, claimed: readonly ClaimedChange[], folded: Folded): Promise<void> {
  const sending = startSending(claimed.map(({ id }) => id));
  try {
    await settle(cycle, sending, withoutSending(folded));
    for (const batch of folded.batches) await sendBatch(cycle, sending, batch);
    await settleOwed(cycle, sending);
  } catch (error) {
    await leaveInOrder(cycle, sending).catch((cause: unknown) => {
      // The next holder of the lease finds out what was sent, and gives back the rest.
      cycle.tally.notes.push(`a stopped push could not be left in order: ${String(cause)}`);
    });
    throw error;
  }
  await giveBack(cycle, sending);
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
