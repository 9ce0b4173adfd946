import { type Delivery, newDelivery, stop } from "../model/delivery/delivery.ts";
import { type Event, envelopeOf } from "../model/delivery/event.ts";
import { isSlow, type Webhook } from "../model/delivery/webhook.ts";
import { deliveryIdOf } from "./derived-id.ts";
import type { BookedWakeUp, Deliveries, DeliveryQueue, EventKey, EventRows, WakeUps, Webhooks } from "./ports.ts";

interface Needs {
  readonly events: Pick<EventRows, "read" | "forget">;
  readonly webhooks: Pick<Webhooks, "list">;
  readonly deliveries: Pick<Deliveries, "add">;
  readonly wakeUps: WakeUps;
  readonly now: () => Date;
}

/**
 * Turns waiting events into one delivery for each webhook that wants them; that of an inactive one waits for a replay.
 * The deliveries' ids derive from event and webhook, so that doing it again, after a crash or for a doubled message,
 * makes nothing twice. The event waits until its deliveries are kept and their wake-ups sent.
 */
export async function dispatch(needs: Needs, keys: readonly EventKey[]): Promise<void> {
  const events = await needs.events.read(keys);
  const webhooks = await webhooksOf(needs, events);
  const now = needs.now();
  const planned = events.flatMap((event) =>
    webhooks
      .filter((webhook) => isFor(webhook, event))
      .map((webhook) => ({ webhook, delivery: deliveryOf(event, webhook, now) })),
  );
  const kept = planned.map(({ webhook, delivery }) => (webhook.active ? delivery : stop(delivery, INACTIVE)));
  await needs.deliveries.add(kept);
  const due = planned.filter(({ webhook }) => webhook.active);
  await needs.wakeUps.send(due.map(({ delivery, webhook }) => firstWakeUp(delivery, queueOf(webhook, now))));
  await needs.events.forget(events);
}

async function webhooksOf({ webhooks }: Needs, events: readonly Event[]): Promise<readonly Webhook[]> {
  const workspaces = [...new Set(events.map(({ workspaceId }) => workspaceId))];
  return (await Promise.all(workspaces.map((id) => webhooks.list(id)))).flat();
}

const INACTIVE = "the webhook was inactive";

const isFor = (webhook: Webhook, event: Event): boolean =>
  webhook.workspaceId === event.workspaceId && webhook.events.includes(event.event);

/** An event's delivery to a webhook. */
export function deliveryOf(event: Event, webhook: Webhook, now: Date): Delivery {
  return newDelivery({
    id: deliveryIdOf(event.id, webhook.id),
    workspaceId: event.workspaceId,
    webhookId: webhook.id,
    eventId: event.id,
    event: event.event,
    body: envelopeOf(event),
    createdAt: now,
  });
}

/** The wake-up of a delivery's first attempt, at once. */
export function firstWakeUp({ id, webhookId, createdAt }: Delivery, queue: DeliveryQueue): BookedWakeUp {
  return { deliveryId: id, webhookId, kind: "automatic", number: 1, at: createdAt, queue };
}

/** Where first and manual attempts of a webhook are sent. */
export function queueOf(webhook: Webhook, now: Date): DeliveryQueue {
  return isSlow(webhook, now) ? "slow" : "quick";
}
