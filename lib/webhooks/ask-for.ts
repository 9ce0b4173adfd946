import { askForAttempt, type Delivery } from "../model/delivery/delivery.ts";
import type { EventDetails, EventType } from "../model/delivery/event.ts";
import type { Webhook } from "../model/delivery/webhook.ts";
import { Failure } from "../model/failure.ts";
import { newId } from "../model/id.ts";
import { deliveryOf, firstWakeUp, laneOf } from "./dispatch.ts";
import type { Deliveries, WakeUps } from "./ports.ts";
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

/** Queues a new attempt at once, for any delivery, even a successful one; its schedule stays as it is (spec 6.4.5). */
export async function retryDelivery(needs: RetryNeeds, webhook: Webhook, found: Delivery, by: Actor): Promise<void> {
  let delivery = found;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const asked = askForAttempt(delivery, by.at);
    const entry = entryOf(webhook, "webhook.delivery_retried", by, { delivery_id: delivery.id, event: delivery.event });
    if (await needs.deliveries.replace(delivery, asked, entry)) return wake(needs, webhook, asked, by.at);
    delivery = await findDelivery(needs.deliveries, webhook, delivery.id);
  }
  throw new Failure("CONFLICT", "this delivery is being worked on from many sides: try again in a second");
}

async function wake({ wakeUps }: RetryNeeds, webhook: Webhook, delivery: Delivery, at: Date): Promise<void> {
  const { id: deliveryId, webhookId, manualRequested: number } = delivery;
  await wakeUps.send([{ deliveryId, webhookId, kind: "manual", number, at, lane: laneOf(webhook, at) }]);
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
  const event = { ...made, event: type, detail: { ...samples(by)[type], test: true } };
  const delivery = deliveryOf(event, webhook, by.at);
  await deliveries.addAsked(
    delivery,
    entryOf(webhook, "webhook.tested", by, { delivery_id: delivery.id, event: type }),
  );
  await wakeUps.send([firstWakeUp(delivery, laneOf(webhook, by.at))]);
  return delivery;
}

function samples({ actor, at }: Actor): { readonly [T in EventType]: EventDetails[T] } {
  const mapping = { mapping_id: "map_test", sf_object: "Contact" };
  const since = new Date(at.getTime() - 60_000).toISOString();
  return {
    "sync.broken": { ...mapping, reason: "salesforce_unavailable", message: "this is a test", since, failed_cycles: 3 },
    "sync.recovered": { ...mapping, broken_since: since, duration_seconds: 60 },
    "sync.failure_spike": { failed_count: 10, ...mapping },
    "mapping.activated": { ...mapping, pg_table: "contact", actor },
    "mapping.deactivated": { ...mapping, pg_table: "contact", actor },
    "record.failed": {
      trigger_log_id: 1,
      ...mapping,
      table_name: "contact",
      record_id: 1,
      sfid: null,
      action: "INSERT",
      error: "REQUIRED_FIELD_MISSING: this is a test [LastName]",
    },
    "deletes.held": {
      ...mapping,
      pg_table: "contact",
      phase: "began",
      deletes: 939,
      since,
      message: "939 deletes are held: this is a test",
    },
  };
}
