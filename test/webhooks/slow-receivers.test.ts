import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { SLOW_ATTEMPTS } from "../../lib/model/delivery/webhook.ts";
import { startWebhookWorld, type WebhookWorld, type WorldWebhook } from "../support/worlds/webhook-world.ts";

let world: WebhookWorld;
beforeAll(async () => {
  world = await startWebhookWorld();
});
// The sender's stopwatch stands still unless a receiver moves it.
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
    const worked = world.workAtOnce("retriesShort");
    await expect.poll(() => webhook.receiver.open() + world.booked("retriesShort")).toBe(25);
    const atOnce = webhook.receiver.mostOpen();
    release();
    await worked;
    await world.pass({ minutes: 5 });

    expect(atOnce).toBe(SLOW_ATTEMPTS);
    expect(webhook.receiver.mostOpen()).toBe(SLOW_ATTEMPTS);
    expect(webhook.receiver.received).toHaveLength(26);
  });

  test("holds up no other: not even its wake-ups stand in their queue", async () => {
    const slow = await slowWebhook();
    const quick = await world.webhook({ answers: 200, events: ["record.failed"] });
    await publishMany(30);
    await world.workAtOnce("events");

    await world.workAtOnce("deliveries");

    expect(quick.receiver.received).toHaveLength(30);
    expect(slow.receiver.received).toHaveLength(1);
  });

  test("that is quick again is slow no more after a minute", async () => {
    const webhook = await slowWebhook();
    webhook.receiver.answer(200);
    await world.pass({ minutes: 2 });
    await publishMany(40);
    await world.workAtOnce("events");

    await world.workAtOnce("deliveries");

    expect(webhook.receiver.received).toHaveLength(41);
  });

  test("gets the turns back that a dead worker held", async () => {
    const webhook = await slowWebhook();
    for (let holder = 0; holder < SLOW_ATTEMPTS; holder += 1) {
      expect(await world.turns.take(webhook.id, `dead-${holder}`, new Date(Date.parse(world.after(10))))).toBe(true);
    }
    expect(await world.turns.take(webhook.id, "late", new Date(Date.parse(world.after(10))))).toBe(false);
    await world.publish("record.failed");

    await world.pass({ minutes: 1 }); // whoever finds no turn comes back within 45 seconds

    expect(webhook.receiver.received).toHaveLength(2);
  });
});
