import { afterAll, beforeAll, expect, test } from "vitest";
import { deliveries, now } from "../../../../functions/services/composition.ts";
import { newDelivery } from "../../../../lib/model/delivery/delivery.ts";
import { type BridgeCloud, startBridgeCloud } from "../../../support/worlds/bridge-cloud.ts";

let cloud: BridgeCloud;
beforeAll(async () => {
  cloud = await startBridgeCloud();
});
afterAll(() => cloud.close());

const DELIVERIES = 120;

test("every page of a webhook's deliveries holds the right ones, newest first, with the exact total", async () => {
  const began = now().getTime() - DELIVERIES * 1000;
  const owed = (webhookId: string, at: number) =>
    newDelivery({
      id: `${webhookId}-${at}`,
      workspaceId: "ws_1",
      webhookId,
      eventId: `evt_${at}`,
      event: "record.failed",
      body: "{}",
      createdAt: new Date(began + at * 1000),
    });
  await deliveries().add(Array.from({ length: DELIVERIES }, (_, at) => owed("whk_1", at)));
  await deliveries().add([owed("whk_2", 0)]);

  const pages = [0, 1, 70, 119, 120, 500].map(async (offset) => {
    const { rows, total } = await deliveries().page("whk_1", { limit: 50, offset });
    return { offset, total, ids: (rows as readonly { id: string }[]).map(({ id }) => id) };
  });

  const newestFirst = Array.from({ length: DELIVERIES }, (_, at) => `whk_1-${DELIVERIES - 1 - at}`);
  expect(await Promise.all(pages)).toEqual(
    [0, 1, 70, 119, 120, 500].map((offset) => ({
      offset,
      total: DELIVERIES,
      ids: newestFirst.slice(offset, offset + 50),
    })),
  );
});
