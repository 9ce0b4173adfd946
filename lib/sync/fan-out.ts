import { phaseOf, slotsOf } from "../model/beat.ts";
import type { CycleMessage, TickMessage } from "../model/messages.ts";
import type { Clock } from "./clock.ts";
import type { Delayed, Queues } from "./service-ports.ts";

/** Each tick becomes the beats of the minute that it stands for. */
export async function fanOut(
  { queues, clock }: { readonly queues: Pick<Queues, "sendCycles">; readonly clock: Clock },
  ticks: readonly TickMessage[],
): Promise<void> {
  const now = new Date(clock.now());
  await queues.sendCycles(ticks.flatMap((tick) => beatsOf(tick, now)));
}

function beatsOf({ workspace_id, mapping_id, scheduled_at }: TickMessage, now: Date): Delayed<CycleMessage>[] {
  return slotsOf(new Date(scheduled_at), phaseOf(workspace_id), now).map(({ slot, delaySeconds }) => ({
    message: { workspace_id, mapping_id, kind: "beat", slot },
    delaySeconds,
  }));
}
