import { afterAll, beforeAll, expect, test } from "vitest";
import { deliveries } from "../../../../functions/services/composition.ts";
import { newDelivery } from "../../../../lib/model/delivery/delivery.ts";
import { type BridgeCloud, startBridgeCloud } from "../../../support/worlds/bridge-cloud.ts";

let cloud: BridgeCloud;
beforeAll(async () => {
  cloud = await startBridgeCloud();
});
afterAll(() => cloud.close());

test("a history of more than DynamoDB answers at once, a megabyte, is reported whole and in its order", async () => {
  const at = new Date(cloud.clock.now());
  const named = { id: "dlv_long", workspaceId: "ws_1", webhookId: "wh_1", eventId: "evt_1", body: "{}" };
  const delivery = newDelivery({ ...named, event: "sync.broken", createdAt: at });
  const outcome = { endedAt: at, durationMs: 1, code: 500, body: "x".repeat(200_000), truncated: false, problem: null };
  for (let number = 1; number <= 8; number++)
    await deliveries().recordLate(delivery, { number, kind: "manual", startedAt: at, outcome });

  const history = await deliveries().history(delivery);

  expect(history.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});
