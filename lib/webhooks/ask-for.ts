import { askForAttempt, type Delivery } from "../model/delivery/delivery.ts";
import type { EventType } from "../model/delivery/event.ts";
import { sampleDetails } from "../model/delivery/sample-details.ts";
import type { Webhook } from "../model/delivery/webhook.ts";
import { Failure } from "../model/failure.ts";
import { newId } from "../model/id.ts";
import { deliveryOf, firstWakeUp, queueOf } from "./dispatch.ts";
import type { BookedWakeUp, Deliveries, WakeUps } from "./ports.ts";
import { type Actor, entryOf } from "./settings.ts";

/** The delivery of this id of this webhook, or DELIVERY_NOT_FOUND, the same for one of another webhook. */
export async function findDelivery(
  deliveries: Pick<Deliveries, "read">,
  webhook: Webhook,
  deliveryId: string,
): Promise<Delivery> {
  const [delivery] = await deliveries.read([deliveryId]);
  if (delivery?.webhookId === webhook.id) return delivery;
  throw new Failure("DELIVERY_NOT_FOUND", `no delivery ${deliveryId} of webhook ${webhook.id}`);
}

interface RetryNeeds {
  readonly deliveries: Pick<Deliveries, "read" | "replace">;
  readonly wakeUps: WakeUps;
}

/** Requests for one delivery at the same moment that lose to one another before one is refused. */
const ROUNDS = 8;

/** Queues a new attempt at once, for any delivery, even a successful one; its schedule stays as it is (contract 6.4.5). */
export async function retryDelivery(needs: RetryNeeds, webhook: Webhook, found: Delivery, by: Actor): Promise<void> {
  let delivery = found;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const asked = askForAttempt(delivery, by.at);
    const entry = entryOf(webhook, "webhook.delivery_retried", by, { delivery_id: delivery.id, event: delivery.event });
    if (await needs.deliveries.replace(delivery, asked, entry)) {
      return needs.wakeUps.send([manualWakeUp(webhook, asked, by.at)]);
    }
    delivery = await findDelivery(needs.deliveries, webhook, delivery.id);
  }
  throw new Failure("CONFLICT", "this delivery is being worked on from many sides: try again in a second");
}

/** The wake-up of the manual attempt that was asked for last. */
export function manualWakeUp(webhook: Webhook, delivery: Delivery, at: Date): BookedWakeUp {
  const { id: deliveryId, webhookId, manualRequested: number } = delivery;
  return { deliveryId, webhookId, kind: "manual", number, at, queue: queueOf(webhook, at) };
}

interface TestNeeds {
  readonly deliveries: Pick<Deliveries, "addAsked">;
  readonly wakeUps: WakeUps;
}

/** Sends the webhook an event of this type that never happened, marked by `"test": true` in its `data`. Gives the delivery. */
export async function testWebhook(
  { deliveries, wakeUps }: TestNeeds,
  webhook: Webhook,
  type: EventType,
  by: Actor,
): Promise<Delivery> {
  const made = { id: newId("evt"), workspaceId: webhook.workspaceId, occurredAt: by.at };
  const event = { ...made, event: type, detail: { ...sampleDetails(by.actor, by.at)[type], test: true } };
  const delivery = deliveryOf(event, webhook, by.at);
  await deliveries.addAsked(
    delivery,
    entryOf(webhook, "webhook.tested", by, { delivery_id: delivery.id, event: type }),
  );
  await wakeUps.send([firstWakeUp(delivery, queueOf(webhook, by.at))]);
  return delivery;
}
