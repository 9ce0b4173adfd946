import type { DeliveryMessage } from "../../model/messages.ts";
import type { QueueName } from "../../model/resources.ts";
import type { BookedWakeUp, WakeUps } from "../../webhooks/ports.ts";
import type { Queues } from "./client.ts";
import { type Grouped, MAX_DELAY_SECONDS, send } from "./send.ts";

/**
 * Wakes workers for deliveries: what is booked as slow through `slowDeliveries`, other first and manual attempts
 * through `deliveries`, retries through the queue of their delay. SQS counts whole seconds, so a wait is rounded
 * up, and holds at most 15 minutes, so a longer one takes several hops: a wake-up that comes early is sent again for
 * what is left.
 */
export function deliveryQueues(queues: Queues, now: () => Date): WakeUps {
  return {
    send: async (wakeUps) => {
      const at = now();
      const byQueue = Map.groupBy(wakeUps, queueOf);
      await Promise.all(
        [...byQueue].map(([queue, group]) =>
          send(
            queues,
            queue,
            group.map((wakeUp) => toMessage(wakeUp, at)),
          ),
        ),
      );
    },
  };
}

const RETRY_QUEUES: readonly QueueName[] = ["retriesShort", "retriesMedium", "retriesLong", "retriesLong"];

function queueOf({ kind, number, queue }: BookedWakeUp): QueueName {
  if (queue === "slow") return "slowDeliveries";
  const retries = kind === "manual" ? undefined : RETRY_QUEUES[number - 2];
  return retries ?? "deliveries";
}

function toMessage({ deliveryId, webhookId, kind, number, at }: BookedWakeUp, now: Date): Grouped {
  const message: DeliveryMessage = { delivery_id: deliveryId, kind, number };
  const seconds = Math.max(0, Math.ceil((at.getTime() - now.getTime()) / 1000));
  return { message, delaySeconds: Math.min(seconds, MAX_DELAY_SECONDS), group: webhookId };
}
