import diagnostics from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import type { SQSEvent } from "aws-lambda";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { deliveries, now, sender, slowSlots, vault, wakeUps, webhooks } from "../../functions/services/composition.ts";
import { handler as deliverWebhook } from "../../functions/workers/deliver-webhook.ts";
import { askForAttempt, CLAIM_SECONDS } from "../../lib/model/delivery/delivery.ts";
import type { Webhook } from "../../lib/model/delivery/webhook.ts";
import { newId } from "../../lib/model/id.ts";
import { type DeliverNeeds, deliver } from "../../lib/webhooks/deliver.ts";
import { deliveryOf, firstWakeUp } from "../../lib/webhooks/dispatch.ts";
import { makeWebhook } from "../support/worlds/make-webhook.ts";
import { startWebhookWorld, type WebhookWorld } from "../support/worlds/webhook-world.ts";

let world: WebhookWorld;
beforeAll(async () => {
  world = await startWebhookWorld();
});
beforeEach(() => world.begin());
afterAll(() => world.close());

/** Queues an event for the webhook and wakes its worker, as the dispatcher would. */
async function owe(webhook: Webhook) {
  const { workspaceId } = webhook;
  const occurredAt = new Date(world.after(0));
  const event = { id: newId("evt"), workspaceId, event: "record.failed", occurredAt, detail: {} } as const;
  const delivery = deliveryOf(event, webhook, occurredAt);
  await deliveries().add([delivery]);
  await wakeUps().send([firstWakeUp(delivery, "quick")]);
  return delivery.id;
}

const read = async (id: string) => {
  const [delivery] = await deliveries().read([id]);
  if (!delivery) throw new Error(`delivery ${id} is gone`);
  return { delivery, history: await deliveries().history(delivery) };
};

describe("what is refused before any connection", () => {
  test.each([
    ["http://10.0.0.1/hooks", "refused: the URL points to a private address (RFC 1918)"],
    ["http://[::ffff:169.254.169.254]/", "refused: the URL points to a link-local or metadata address"],
    ["ftp://example.com/", "refused: the URL must begin with https:// or http://"],
  ])("%s is in the history with the rule that it breaks, and is tried again", async (url, problem) => {
    const id = await owe(await makeWebhook(url));

    await world.work();

    const { delivery, history } = await read(id);
    expect(delivery).toMatchObject({ status: "failed", responseCode: null, nextAttemptAt: new Date(world.after(30)) });
    expect(history).toMatchObject([{ outcome: { code: null, problem } }]);
  });
});

describe("DynamoDB answers, and the answer is lost", () => {
  test.each([
    ["the claim", '"started_at"'],
    ["the outcome", '"ended_at"'],
  ])("of %s: the attempt is reported once and the schedule continues", async (_, mark) => {
    const webhook = await world.webhook({ answers: 500 });
    await world.publish("record.failed");
    await world.workAtOnce("events");
    const lost = loseAnswerOnce(mark);

    await world.pass({ hours: 5 });

    lost.end();
    const { rows: all } = await deliveries().since(webhook.id, new Date(0), { limit: 10 });
    const { delivery, history } = await read(all[0]?.id ?? "");
    const ended = history.filter(({ outcome }) => outcome !== null);
    expect(lost.happened()).toBe(true);
    expect(ended).toHaveLength(5);
    expect(new Set(history.map(({ number }) => number)).size).toBe(history.length);
    expect(webhook.receiver.received).toHaveLength(5);
    expect(delivery).toMatchObject({ status: "failed", automaticAttempts: 5, nextAttemptAt: null });
  });
});

describe("our own key service is down for minutes", () => {
  test("and the event arrives with the first retry after it is back, or at once when a user asks for it", async () => {
    const [late, asked] = [await world.webhook({ answers: 200 }), await world.webhook({ answers: 200 })];
    const id = await oweInOutage(late.receiver.url);
    const other = await oweInOutage(asked.receiver.url);
    const { delivery } = await read(other);
    await deliveries().replace(delivery, askForAttempt(delivery, now()));

    await deliver(needs(), [{ deliveryId: other, kind: "manual", number: 1 }]);
    const atOnce = asked.receiver.received.length;
    await world.pass({ minutes: 1 });

    expect(delivery).toMatchObject({ status: "failed", automaticAttempts: 1 });
    expect([atOnce, late.receiver.received.length]).toEqual([1, 1]);
    expect((await read(id)).delivery.status).toBe("successful");
  });

  /** A delivery that workers could not sign for so long that an attempt was counted as failed. */
  async function oweInOutage(url: string): Promise<string> {
    const id = await owe(await makeWebhook(url));
    await world.lose("deliveries");
    const open = () => Promise.reject(new Error("KMS is down"));
    while ((await read(id)).delivery.automaticAttempts === 0) {
      await deliver({ ...needs(), vault: { open } }, [{ deliveryId: id, kind: "automatic", number: 1 }]);
      await world.cloud.clock.advance({ seconds: CLAIM_SECONDS });
    }
    return id;
  }

  const needs = (): DeliverNeeds => ({
    deliveries: deliveries(),
    webhooks: webhooks(),
    wakeUps: wakeUps(),
    slots: slowSlots(),
    vault: vault(),
    sender: sender(),
    now,
    queue: "quick",
  });
});

test("a message for a delivery that is long gone is dropped", async () => {
  const body = JSON.stringify({ delivery_id: "dlv_gone", kind: "automatic", number: 1 });

  const answer = await deliverWebhook({ Records: [{ messageId: "m", body }] } as SQSEvent);

  expect(answer.batchItemFailures).toEqual([]);
});

/** Breaks the connection of the next update that carries `mark`, once DynamoDB has answered it. */
function loseAnswerOnce(mark: string): { happened(): boolean; end(): void } {
  let hasHappened = false;
  const look = (message: unknown) => {
    const { request } = message as { request: ClientRequest };
    if (!/UpdateItem$/.test(String(request.getHeader("x-amz-target")))) return;
    const end = request.end.bind(request) as (...given: unknown[]) => ClientRequest;
    request.end = ((...given: unknown[]) => {
      if (!hasHappened && String(given[0]).includes(mark)) {
        hasHappened = true;
        request.prependOnceListener("response", () => request.destroy(new Error("the answer is lost")));
      }
      return end(...given);
    }) as ClientRequest["end"];
  };
  diagnostics.subscribe("http.client.request.created", look);
  return {
    happened: () => hasHappened,
    end: () => {
      diagnostics.unsubscribe("http.client.request.created", look);
    },
  };
}
