import { expect, test } from "vitest";
import {
  changingAttributes,
  readListed as readDelivery,
} from "../../../../lib/adapters/dynamodb/delivery/delivery-item.ts";
import { listedDelivery, newDelivery } from "../../../../lib/model/delivery/delivery.ts";

const AT = new Date("2026-03-01T11:00:00.000Z");

const DELIVERY = {
  ...newDelivery({
    id: "dlv_1",
    workspaceId: "ws_1",
    webhookId: "whk_1",
    eventId: "evt_1",
    event: "sync.broken",
    body: "{}",
    createdAt: AT,
  }),
  status: "failed" as const,
  responseCode: 500,
  automaticAttempts: 1,
  nextAttemptAt: new Date("2026-03-01T11:00:30.000Z"),
};

test("a delivery is listed as the contract shows it, also one that was kept with less", () => {
  const { listed } = changingAttributes(DELIVERY);
  const { event, status, response_code, delivered_at } = listedDelivery(DELIVERY);
  const before = {
    ...{ event, created_at: AT.toISOString(), status, response_code, delivered_at },
    ...{ next_attempt_at: DELIVERY.nextAttemptAt.toISOString(), automatic_attempts: 1 },
  };

  const rows = [listed, JSON.stringify(before)].map((text) =>
    listedDelivery(readDelivery({ pk: "dlv_1", listed: text })),
  );

  expect(rows).toEqual(Array.from({ length: 2 }, () => listedDelivery(DELIVERY)));
});
