import { createHmac } from "node:crypto";
import { Webhook as Verifier } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { database, eventRows, deliveries as kept, now, wakeUps } from "../../functions/services/composition.ts";
import { EVENT_TYPES, type Event } from "../../lib/model/delivery/event.ts";
import { resendOverdue } from "../../lib/webhooks/resend-overdue.ts";
import { auditedIn } from "../support/clients/audit-page.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { firstInGate, isWholeGrid } from "../support/run/whole-grid.ts";
import { startWebhookWorld, type WebhookWorld, type WorldWebhook } from "../support/worlds/webhook-world.ts";

let world: WebhookWorld;
beforeAll(async () => {
  world = await startWebhookWorld();
});
beforeEach(() => world.begin());
afterAll(() => world.close());

describe("delivery and retries (contract 3.5, 6.4)", () => {
  test.each(firstInGate(2, [204, 200, 299]))("%i is success: one attempt, none further", async (status) => {
    const webhook = await world.webhook({ answers: status });
    await world.publish("sync.broken");

    await world.pass({ hours: 3 });

    expect(webhook.calledAfterSeconds()).toEqual([0]);
    expect(await deliveries(webhook)).toMatchObject([
      { event: "sync.broken", status: "successful", response_code: status, next_retry_at: null },
    ]);
  });

  test("each retry is due as the schedule says, all carry the same bytes and event id, and after the last only the sweeper looks", async () => {
    const webhook = await world.webhook({ answers: 503 });
    const event = await world.publish("sync.failure_spike");
    const shown: unknown[] = [];

    for (const [passed, before] of [
      [29, 0],
      [30, 29],
      [330, 30],
      [2130, 330],
      [9330, 2130],
    ] as const) {
      await world.pass({ seconds: passed - before });
      shown.push(...(await deliveries(webhook)));
    }

    const requests = vi.spyOn(database().client, "send");
    await world.pass({ hours: 21 });
    const afterwards = requests.mock.calls.length;
    requests.mockRestore();

    // The sweeper comes once an hour here: a query of waiting events, and one of each shard of what is due.
    expect(afterwards).toBe(21 * (1 + 8));
    expect(webhook.calledAfterSeconds()).toEqual([0, 30, 330, 2130, 9330]);
    const due = [30, 330, 2130, 9330].map(world.after);
    expect(shown).toMatchObject([...due, null].map((next) => ({ status: "failed", next_retry_at: next })));
    const { received } = webhook.receiver;
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    expect(received.map(({ headers }) => headers["webhook-id"])).toEqual(Array(5).fill(event.id));
    expect(received.map(({ headers }) => headers["x-bridge-attempt"])).toEqual(["1", "2", "3", "4", "5"]);
    expect(new Set(received.map(({ headers }) => headers["x-bridge-delivery"])).size).toBe(1);
    expect(JSON.parse(received[0]?.body ?? "")).toEqual({
      id: event.id,
      event: "sync.failure_spike",
      workspace_id: world.workspace().id,
      occurred_at: world.after(0),
      data: { mapping_id: "map_1" },
    });
  });

  test("a receiver that comes back is called by the next retry, and no more; until then the webhook says since when it fails", async () => {
    const webhook = await world.webhook({ answers: 500 });
    await world.publish("sync.broken");
    await world.pass({ minutes: 3 });
    const failing = await world.call("change-webhook", change(webhook, { description: "x" }));

    webhook.receiver.answer(200);
    await world.pass({ hours: 3 });
    const answering = await world.call("change-webhook", change(webhook, { description: "y" }));

    expect(webhook.calledAfterSeconds()).toEqual([0, 30, 330]);
    const done = { status: "successful", response_code: 200, next_retry_at: null };
    expect(await deliveries(webhook)).toMatchObject([done]);
    expect(failing.json?.data).toMatchObject({ failing_since: world.after(0), description: "x" });
    expect(answering.json?.data).toMatchObject({ failing_since: null });
  });

  test("a receiver that never answers within five seconds has failed, and the history says so", async () => {
    const webhook = await world.webhook({ answers: "never" });
    await world.publish("sync.broken");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());

    const worked = world.work();
    await webhook.receiver.has(1);
    vi.advanceTimersByTime(5000);
    await worked;
    vi.useRealTimers();

    const [delivery] = await deliveries(webhook);
    expect(delivery).toMatchObject({
      status: "failed",
      response_code: null,
      next_retry_at: world.after(30),
    });
    expect(await history(webhook, delivery?.id ?? "")).toMatchObject([
      {
        succeeded: false,
        response_code: null,
        reason: "no answer within 5 seconds: still waiting for the status line",
      },
    ]);
  });
});

describe("events (contract 6.1)", () => {
  test.each(firstInGate(3, EVENT_TYPES))("%s reaches the webhooks that asked for it, and no other", async (event) => {
    const others = EVENT_TYPES.filter((type) => type !== event);
    const asked = await world.webhook({ answers: 200, events: [event] });
    const askedToo = await world.webhook({ answers: 200 });
    const other = await world.webhook({ answers: 200, events: others });
    await world.publish(event);

    await world.work();

    expect(asked.receiver.received.map(({ headers }) => headers["x-bridge-event"])).toEqual([event]);
    expect(askedToo.receiver.received).toHaveLength(1);
    expect(other.receiver.received).toHaveLength(0);
  });

  test("an event that is reported again is delivered once", async () => {
    const webhook = await world.webhook({ answers: 200 });
    const { id } = await world.publish("sync.broken");
    await world.work();

    await world.publish("sync.broken", id);
    await world.work();

    expect(webhook.receiver.received).toHaveLength(1);
    expect(await deliveries(webhook)).toHaveLength(1);
  });
});

describe("signatures (contract 6.3)", () => {
  test("both signatures are of the body that was sent, under either secret for 24 hours after a rotation, then under the new alone", async () => {
    const webhook = await world.webhook({ answers: 200 });
    await world.publish("sync.broken");
    await world.work();
    const { secret } = await world.ask<{ secret: string }>("rotate-webhook-secret", {
      path: { webhook_id: webhook.id },
    });
    await world.publish("sync.recovered");
    await world.work();
    await world.cloud.clock.advance({ hours: 25 });
    await world.publish("sync.broken");
    await world.work();

    const { received } = webhook.receiver;
    const headers = (name: string) => received.map((one) => one.headers[name]);
    const [before, during, afterwards] = received.map(({ body }) => body);
    expect(secret).not.toBe(webhook.secret);
    expect(headers("x-bridge-signature")).toEqual([
      hmac(webhook.secret, before),
      hmac(secret, during),
      hmac(secret, afterwards),
    ]);
    const previous = [undefined, hmac(webhook.secret, during), undefined];
    expect(headers("x-bridge-signature-previous")).toEqual(previous);
    expect(received.map((one) => accepts(webhook.secret, one))).toEqual([true, true, false]);
    expect(received.map((one) => accepts(secret, one))).toEqual([false, true, true]);
  });
});

describe("manual retries (contract 3.5, 4.1.10, 6.4.5)", () => {
  test("a failed manual attempt leaves the schedule as it was", async () => {
    const webhook = await world.webhook({ answers: 500 });
    await world.publish("sync.broken");
    await world.work();
    await world.pass({ seconds: 10 });

    await retryFirst(webhook);
    await world.work();
    const [delivery] = await deliveries(webhook);
    await world.pass({ seconds: 20 });
    await world.pass({ hours: 3 });

    expect(delivery).toMatchObject({ status: "failed", next_retry_at: world.after(30) });
    expect(webhook.calledAfterSeconds()).toEqual([0, 10, 30, 330, 2130, 9330]);
  });

  test("a manual success ends the schedule, and a delivery whose schedule is spent can still be retried, as often as asked", async () => {
    const [webhook, spent] = [await world.webhook({ answers: 500 }), await world.webhook({ answers: 500 })];
    await world.publish("sync.broken");
    await world.work();
    webhook.receiver.answer(200);

    await retryFirst(webhook);
    await world.pass({ hours: 3 });
    await retryFirst(spent);
    await retryFirst(spent);
    await world.pass({ seconds: 5 });

    expect(webhook.calledAfterSeconds()).toEqual([0, 0]);
    expect(await deliveries(webhook)).toMatchObject([{ status: "successful", next_retry_at: null }]);
    expect(spent.receiver.received).toHaveLength(7);
    expect(await deliveries(spent)).toMatchObject([{ status: "failed", next_retry_at: null }]);
  });

  test("the history distinguishes automatic and manual attempts, with the first 1,024 bytes of each answer", async () => {
    const webhook = await world.webhook({ answers: { status: 500, body: `${"x".repeat(1023)}é and more` } });
    await world.publish("sync.broken");
    await world.work();

    const [, id] = await retryFirst(webhook);
    await world.work();

    expect(await history(webhook, id)).toMatchObject([
      { number: 1, kind: "automatic", response_code: 500, response_body: "x".repeat(1023), reason: "answered 500" },
      { number: 2, kind: "manual", response_code: 500, response_body_truncated: true, succeeded: false },
    ]);
  });
});

describe("webhooks that change", () => {
  test("a deleted one gets nothing more, its pending retries included", async () => {
    const webhook = await world.webhook({ answers: 500 });
    await world.publish("sync.broken");
    await world.work();

    const answer = await world.call("delete-webhook", { path: { webhook_id: webhook.id } });
    await world.publish("sync.broken");
    await world.pass({ hours: 3 });

    expect(answer.status).toBe(200);
    expect(webhook.calledAfterSeconds()).toEqual([0]);
  });

  test("a deactivated one gets nothing on its own, and the history says why; a manual retry still reaches it", async () => {
    const webhook = await world.webhook({ answers: 500 });
    await world.publish("sync.broken");
    await world.work();

    await world.call("change-webhook", { path: { webhook_id: webhook.id }, body: { active: false } });
    await world.publish("sync.broken");
    await world.pass({ hours: 3 });
    const list = await deliveries(webhook);
    const pending = await Promise.all(list.map(({ id }) => read(webhook, id)));
    await retryFirst(webhook);
    await world.work();

    expect(pending.map(({ stopped_because, attempts }) => `${attempts.length}: ${stopped_because}`).sort()).toEqual([
      "0: the webhook was inactive",
      "1: the webhook was deactivated",
    ]);
    expect(pending.map(({ next_retry_at }) => next_retry_at)).toEqual([null, null]);
    expect(webhook.calledAfterSeconds()).toEqual([0, 3 * 3600]);
  });

  test("what it missed while it was inactive, and what was given up, is sent again by a replay from a time", async () => {
    const webhook = await world.webhook({ answers: 500 });
    await world.publish("sync.broken", "evt_given_up");
    await world.pass({ hours: 3 });
    await switchTo(webhook, false);
    await world.publish("sync.broken", "evt_missed");
    await world.publish("sync.recovered", "evt_missed_too");
    await world.work();
    const inactive = await replay(webhook, 0);
    await switchTo(webhook, true);
    webhook.receiver.answer(200);
    await world.publish("sync.broken", "evt_taken");
    await world.work();

    const later = await replay(webhook, 3600);
    await world.work();
    const all = await replay(webhook, 0);
    await world.work();
    const again = await replay(webhook, 0);
    await world.work();

    const received = webhook.receiver.received.slice(5).map(({ headers }) => String(headers["webhook-id"]));
    expect(inactive.json?.error).toMatchObject({ code: "CONFLICT" });
    expect([later, all, again].map(({ json }) => json?.data)).toEqual([
      { queued: 2, next: null },
      { queued: 1, next: null },
      { queued: 0, next: null },
    ]);
    expect(received.slice(0, 1)).toEqual(["evt_taken"]);
    expect(received.slice(1, 3).sort()).toEqual(["evt_missed", "evt_missed_too"]);
    expect(received.slice(3)).toEqual(["evt_given_up"]);
    const { entries } = await auditedIn(world.workspace().id, "webhook.replayed", 9);
    expect(entries.map(({ resourceId, detail }) => ({ resourceId, detail }))).toEqual([
      { resourceId: webhook.id, detail: { since: world.after(0), deliveries: 1 } },
      { resourceId: webhook.id, detail: { since: world.after(3600), deliveries: 2 } },
    ]);
  });

  test("replays at the same time send nothing twice, and one whose wake-ups are lost is repeated", async () => {
    const webhook = await world.webhook({ answers: 200 });
    await switchTo(webhook, false);
    for (const number of [1, 2, 3, 4, 5]) await world.publish("sync.broken", `evt_${number}`);
    await world.work();
    await switchTo(webhook, true);

    const answers = await Promise.all([replay(webhook, 0), replay(webhook, 0), replay(webhook, 0)]);
    const lost = await world.lose("deliveries");
    const meanwhile = await replay(webhook, 0);
    await world.pass({ minutes: 5 });

    const queued = answers.map((answer) => dataOf<{ queued: number }>(answer).queued);
    expect(queued.reduce((sum, one) => sum + one, 0)).toBe(5);
    expect(lost).toBe(5);
    expect(meanwhile.json?.data).toEqual({ queued: 0, next: null });
    expect(webhook.receiver.received.map(({ headers }) => headers["webhook-id"]).sort()).toEqual(
      [1, 2, 3, 4, 5].map((number) => `evt_${number}`),
    );
  });

  test("a replay reads page by page what was created since its time, and nothing else", async () => {
    const webhook = await world.webhook({ answers: 200 });
    for (let published = 0; published < 5; published += 1) {
      await world.publish("sync.broken");
      await world.pass({ seconds: 10 });
    }
    const page = (beforeId?: string) => kept().since(webhook.id, new Date(world.after(10)), { limit: 3, beforeId });

    const first = await page();
    const second = await page(first.next ?? "");

    const made = [...first.rows, ...second.rows].map(({ createdAt }) => createdAt.toISOString());
    expect(made).toEqual([40, 30, 20, 10].map(world.after));
    expect([first.next, second.next]).toEqual([first.rows[2]?.id, null]);
  });

  test("a webhook is given up on once it has failed for longer than a delivery is retried", async () => {
    const webhook = await world.webhook({ answers: 500 });
    const givenUp = async () => (await world.ask<{ given_up: boolean }>("read-webhook", change(webhook, {}))).given_up;
    await world.publish("sync.broken");
    await world.pass({ seconds: 9300 });
    const before = await givenUp();
    const early = await replay(webhook, 0);

    await world.pass({ seconds: 60 });

    expect([before, await givenUp()]).toEqual([false, true]);
    expect(early.json?.data).toEqual({ queued: 0, next: null });
  });
});

describe("nothing is lost, nothing is early", () => {
  test("a lost wake-up of an event, of a delivery, or of any retry is repeated within minutes", async () => {
    const webhook = await world.webhook({ answers: 500 });
    await world.publish("sync.broken");
    expect(await world.lose("events")).toBe(1);
    await world.pass({ minutes: 3 });
    expect(webhook.receiver.received.length).toBeGreaterThanOrEqual(1);
    const first = webhook.calledAfterSeconds()[0] ?? 0;

    await world.cloud.clock.advance({ seconds: 31 });
    await world.lose("retriesShort");
    const [minutes, attempts] = isWholeGrid ? [180, 5] : [40, 4];
    await world.pass({ minutes });

    expect(first).toBeGreaterThanOrEqual(60);
    expect(first).toBeLessThanOrEqual(180);
    expect(webhook.receiver.received).toHaveLength(attempts);
  });

  test("an event whose wake-up is lost again and again is woken every five minutes", async () => {
    const { id } = await world.publish("sync.broken");
    const woken: number[] = [];
    const deliveries = { async *late() {}, postpone: async () => undefined };

    for (let minute = 1; minute <= 9; minute += 1) {
      await world.cloud.clock.advance({ minutes: 1 });
      const wake = async (events: readonly Event[]) => {
        if (events.some((event) => event.id === id)) woken.push(minute);
      };
      await resendOverdue({ rows: eventRows(), deliveries, events: { wake }, wakeUps: wakeUps(), now });
    }

    expect(woken, "what is just a minute late is not woken yet").toEqual([2, 8]);
  });

  test("doubled messages make no second attempt", async () => {
    const webhook = await world.webhook({ answers: 500 });
    const event = await world.publish("sync.broken");
    await world.doubleMessages("events");

    await world.work();
    await world.cloud.clock.advance({ seconds: 30 });
    await world.doubleMessages("retriesShort");
    await world.pass({ hours: 24 });

    expect(webhook.calledAfterSeconds()).toEqual([0, 30, 330, 2130, 9330]);
    expect(webhook.receiver.received.every(({ headers }) => headers["webhook-id"] === event.id)).toBe(true);
  });
});

interface Listed {
  readonly id: string;
}

const deliveries = (webhook: WorldWebhook) =>
  world.ask<readonly Listed[]>("list-deliveries", { path: { webhook_id: webhook.id } });

const switchTo = (webhook: WorldWebhook, active: boolean) => world.call("change-webhook", change(webhook, { active }));

/** So many seconds after the test began. */
const replay = (webhook: WorldWebhook, seconds: number) =>
  world.call("replay-webhook", {
    path: { webhook_id: webhook.id },
    query: { since: world.after(seconds) },
  });

interface History {
  readonly attempts: readonly unknown[];
  readonly stopped_because: string | null;
  readonly next_retry_at: string | null;
}

function read(webhook: WorldWebhook, deliveryId: string) {
  const path = { webhook_id: webhook.id, delivery_id: deliveryId };
  return world.ask<History>("read-delivery", { path });
}

const history = async (webhook: WorldWebhook, deliveryId: string) => (await read(webhook, deliveryId)).attempts;

async function retryFirst(webhook: WorldWebhook) {
  const [delivery] = await deliveries(webhook);
  const path = { webhook_id: webhook.id, delivery_id: delivery?.id ?? "" };
  return [await world.call("retry-delivery", { path }), path.delivery_id] as const;
}

const change = (webhook: WorldWebhook, body: object) => ({ path: { webhook_id: webhook.id }, body });

/** What the contract asks of `X-Bridge-Signature`: HMAC-SHA256 of the raw body, keyed with the secret as shown, in hex. */
const hmac = (secret: string, body = "") => `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

/** Whether the official verifier takes it at the time when it came. */
function accepts(secret: string, received: WorldWebhook["receiver"]["received"][number] | undefined): boolean {
  if (!received) return false;
  const { headers, body, at } = received;
  const real = Date.now;
  Date.now = () => at.getTime();
  try {
    new Verifier(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  } finally {
    Date.now = real;
  }
}
