import { expect, test } from "vitest";
import { readListed, writeEntry } from "../../../../lib/adapters/dynamodb/audit/audit-item.ts";
import {
  changingAttributes,
  readListed as readDelivery,
} from "../../../../lib/adapters/dynamodb/delivery/delivery-item.ts";
import { listedDelivery, newDelivery } from "../../../../lib/model/delivery/delivery.ts";
import { type AuditEntry, listedEntry } from "../../../../lib/model/workspace/audit.ts";

const AT = new Date("2026-03-01T11:00:00.000Z");

const ENTRY: AuditEntry = {
  id: "aud_1",
  workspaceId: "ws_1",
  actor: "ada@example.com",
  action: "mapping.updated",
  resourceId: "map_1",
  detail: { name: 'O\'Hara "the first"', workspace_id: "ws_1", nested: { text: ',"workspace_id":"ws_1"}' } },
  createdAt: AT,
};

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

test("an audit entry is listed as the contract shows it, whatever its detail holds", () => {
  const listed = readListed(writeEntry("ws_1", 1, ENTRY, 0));

  expect(JSON.stringify(listed)).toBe(JSON.stringify(listedEntry(ENTRY)));
});

test("an audit entry that was kept in another order is listed the same", () => {
  const { id, workspaceId, actor, action, resourceId, detail } = ENTRY;
  const kept = { id, workspace_id: workspaceId, actor, action, resource_id: resourceId, detail };

  const listed = readListed({ entry: JSON.stringify({ ...kept, created_at: AT.toISOString() }) });

  expect(JSON.stringify(listed)).toBe(JSON.stringify(listedEntry(ENTRY)));
});

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
