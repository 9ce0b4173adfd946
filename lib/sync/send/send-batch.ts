import { SalesforceRefusal } from "../../model/change/refusal.ts";
import type { Cycle } from "../cycle/cycle.ts";
import { ready, type Sending, settleOwed } from "./push-progress.ts";
import { mark, type Saved, save } from "./save-batch.ts";
import { isDivisible, sendApart } from "./send-apart.ts";

/**
 * One call, marked before; what comes of it is owed, and settled with the next one or by `settleOwed`. What follows a
 * write that is to be tried again waits as long as that one. A call that is refused as a whole, as it may be for the sake
 * of one record, is taken apart until that record stands alone.
 */
export async function sendBatch(cycle: Cycle, sending: Sending, { operation, writes }: Saved): Promise<void> {
  const going = ready(sending, writes);
  if (going.length === 0) return;

  const batch = { operation, writes: going };
  await mark(cycle, batch);
  const saving = save(cycle, sending, batch).catch((error: unknown) => {
    if (!isDivisible(error)) throw error;
    return error;
  });
  // Its own end is awaited below, whatever becomes of the writing down.
  saving.catch(() => undefined);
  await settleOwed(cycle, sending).catch(async (error: unknown) => {
    // What was saved is still to be written down; it may be what came too late.
    const saved = await saving.catch(() => null);
    if (Array.isArray(saved)) sending.owed = saved;
    throw error;
  });
  const saved = await saving;
  if (saved instanceof SalesforceRefusal) await sendApart(cycle, sending, batch, saved);
  else sending.owed = saved;
}
