import { expect, onTestFinished, test } from "vitest";
import { events } from "../../functions/services/composition.ts";
import { newId } from "../../lib/model/id.ts";
import { startReceiver } from "../support/doubles/receiver.ts";
import { startHostedBridge } from "../support/worlds/hosted-bridge.ts";
import { makeWebhook } from "../support/worlds/make-webhook.ts";

test("by the machine's own clock, the first retry comes 30 seconds after the failure, never earlier", async () => {
  const bridge = await startHostedBridge();
  onTestFinished(() => bridge.close());
  const receiver = await startReceiver(503);
  onTestFinished(() => receiver.close());
  const { workspaceId } = await makeWebhook(receiver.url);
  const event = { id: newId("evt"), workspaceId, event: "record.failed", occurredAt: new Date(), detail: {} } as const;

  await events().publish([event]);
  await receiver.has(1);
  receiver.answer(200);
  await receiver.has(2);

  const [first, second] = receiver.received.map(({ at }) => at.getTime());
  const waited = ((second ?? 0) - (first ?? 0)) / 1000;
  expect(waited).toBeGreaterThanOrEqual(30);
});
