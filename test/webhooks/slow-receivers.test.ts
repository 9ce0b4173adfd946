import diagnostics from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { webhooks } from "../../functions/services/composition.ts";
import { SLOW_ATTEMPTS } from "../../lib/model/delivery/webhook.ts";
import { startWebhookWorld, type WebhookWorld, type WorldWebhook } from "../support/worlds/webhook-world.ts";

let world: WebhookWorld;
beforeAll(async () => {
  world = await startWebhookWorld();
});
// The sender's stopwatch does not move unless a receiver moves it.
beforeEach(async () => {
  await world.begin();
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});
afterAll(() => world.close());

/** Answers after 2.6 seconds of the stopwatch. */
function slowly(): number {
  vi.advanceTimersByTime(2600);
  return 200;
}

/** A webhook whose last attempt was slow. */
async function slowWebhook(): Promise<WorldWebhook> {
  const webhook = await world.webhook({ answers: slowly, events: ["record.failed"] });
  await world.publish("record.failed");
  await world.work();
  return webhook;
}

/** Calls by which messages are sent while `work` runs. */
async function countSends(work: () => Promise<unknown>): Promise<number> {
  let sends = 0;
  const look = (message: unknown) => {
    const { request } = message as { request: ClientRequest };
    if (request.getHeader("x-amz-target") === "AmazonSQS.SendMessageBatch") sends += 1;
  };
  diagnostics.subscribe("http.client.request.created", look);
  await work().finally(() => diagnostics.unsubscribe("http.client.request.created", look));
  return sends;
}

async function publishMany(count: number): Promise<void> {
  for (let published = 0; published < count; published += 1) await world.publish("record.failed");
}

describe("a slow receiver", () => {
  test("has at most ten attempts open at once, however many workers there are, and gets everything in the end", async () => {
    const webhook = await slowWebhook();
    await publishMany(25);
    await world.workAtOnce("events");

    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    webhook.receiver.answer(() => released.then(slowly));
    const worked = world.workAtOnce("slowDeliveries");
    await expect.poll(() => webhook.receiver.open()).toBeGreaterThanOrEqual(SLOW_ATTEMPTS);
    const atOnce = webhook.receiver.mostOpen();
    release();
    await worked;
    await world.pass({ minutes: 5 });

    expect(atOnce).toBe(SLOW_ATTEMPTS);
    expect(webhook.receiver.mostOpen()).toBe(SLOW_ATTEMPTS);
    expect(webhook.receiver.received).toHaveLength(26);
  });

  test("holds up no other, not even its wake-ups are in their queue, and once it is quick again it is slow no more", async () => {
    const slow = await slowWebhook();
    const quick = await world.webhook({ answers: 200, events: ["record.failed"] });
    await publishMany(12);
    await world.workAtOnce("events");

    await world.workAtOnce("deliveries");

    expect(quick.receiver.received).toHaveLength(12);
    expect(slow.receiver.received).toHaveLength(1);

    slow.receiver.answer(200);
    await world.pass({ minutes: 5 });
    await publishMany(2);
    await world.workAtOnce("events");
    await world.workAtOnce("deliveries");

    expect(slow.receiver.received).toHaveLength(1 + 12 + 2);
  });

  test("has its deliveries moved to the slow queue in one call for ten", async () => {
    const webhook = await world.webhook({ answers: 200, events: ["record.failed"] });
    await publishMany(10);
    await world.workAtOnce("events");
    const key = { workspaceId: world.workspace().id, webhookId: webhook.id };
    await webhooks().noteHealth(key, { failingSince: null, slowUntil: new Date(world.after(60)) });

    const sends = await countSends(() => world.workAtOnce("deliveries"));
    await world.workAtOnce("slowDeliveries");

    expect(sends).toBe(1);
    expect(webhook.receiver.received).toHaveLength(10);
  });

  test("gets the slots back that a dead worker held", async () => {
    const webhook = await slowWebhook();
    const until = new Date(world.after(10));
    for (let holder = 0; holder <= SLOW_ATTEMPTS; holder += 1)
      expect(await world.slots.take(webhook.id, `dead-${holder}`, until)).toBe(holder < SLOW_ATTEMPTS);
    await world.publish("record.failed");

    await world.pass({ minutes: 1 }); // a delivery without a slot comes back within 45 seconds

    expect(webhook.receiver.received).toHaveLength(2);
  });
});
