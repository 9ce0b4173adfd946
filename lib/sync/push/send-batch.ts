import { SalesforceRefusal } from "../../model/change/refusal.ts";
import type { Cycle } from "../cycle/cycle.ts";
import { isTaken, type PushProgress, ready, settle } from "./push-progress.ts";
import { type Saved, save } from "./save-batch.ts";
import { sendApart } from "./send-apart.ts";

/** Calls of as many records as the org's own code can bear, one after the other. */
export async function sendBatch(cycle: Cycle, sending: PushProgress, { operation, writes }: Saved): Promise<void> {
  for (let from = 0; from < writes.length && isTaken(sending, operation); ) {
    const some = writes.slice(from, from + cycle.callSize.size);
    from += some.length;
    await sendCall(cycle, sending, { operation, writes: some });
  }
}

/**
 * One call, marked before and settled after it. What follows a retry waits as long as that one. A call that is refused
 * as a whole, perhaps for one record, is split until that record is alone.
 */
async function sendCall(cycle: Cycle, sending: PushProgress, { operation, writes }: Saved): Promise<void> {
  const going = await ready(cycle, sending, writes);
  if (going.length === 0) return;

  const batch = { operation, writes: going };
  const saved = await save(cycle, sending, batch);
  if (saved instanceof SalesforceRefusal) await sendApart(cycle, sending, batch, saved);
  else await settle(cycle, sending, saved);
}
