import * as z from "zod/mini";
import { deliver } from "../../lib/webhooks/deliver.ts";
import type { DeliveryQueue } from "../../lib/webhooks/ports.ts";
import { deliveries, now, sender, slowSlots, vault, wakeUps, webhooks } from "../services/composition.ts";
import { onQueue } from "./on-queue.ts";

const deliveryMessage = z.pipe(
  z.object({ delivery_id: z.string(), kind: z.enum(["automatic", "manual"]), number: z.number() }),
  z.transform(({ delivery_id, kind, number }) => ({ deliveryId: delivery_id, kind, number })),
);

/** The handler of a queue of deliveries: makes the attempts of a batch at once. */
export function makeAttempts(queue: DeliveryQueue) {
  return onQueue(deliveryMessage, async (messages) => {
    const faults = await deliver(
      {
        deliveries: deliveries(),
        webhooks: webhooks(),
        wakeUps: wakeUps(),
        slots: slowSlots(),
        vault: vault(),
        sender: sender(),
        now,
        queue,
      },
      messages,
    );
    return faults.map(({ wakeUp, fault }) => ({ position: messages.indexOf(wakeUp), fault }));
  });
}
