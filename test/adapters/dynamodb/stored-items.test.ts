import { expect, test } from "vitest";
import type { Database } from "../../../lib/adapters/dynamodb/client.ts";
import { readMapping, writeMapping } from "../../../lib/adapters/dynamodb/mapping-item.ts";
import { tokens } from "../../../lib/adapters/dynamodb/tokens.ts";
import { readWebhook, webhookItem } from "../../../lib/adapters/dynamodb/webhook-item.ts";

// Written out by hand, as versions before this one have stored them.

const mappingText = {
  id: "map_1",
  sf_object: "Contact",
  pg_table: "contact",
  sync_direction: "pg_to_sf",
  fields: ["Last_Name__c", "LastName"],
  upsert_field: "Key__c",
  polling_seconds: 60,
  notify_enabled: true,
  conflict_policy: "latest_wins",
  capture: "always",
  filter: "Last_Name__c != null",
  foreign: { sf_key: { other_key: 1 }, revision: 7 },
  created_at: "2026-03-01T11:00:00.000Z",
  updated_at: "2026-03-01T11:00:31.000Z",
};

const mappingItem = {
  pk: "ws_1",
  sk: "mapping#map_1",
  active: false,
  config_version: 7,
  provisioning: { state: "failed", version: 7, reason: "no_such_column" },
  deleted_at: "2026-03-02T11:00:00.000Z",
  mapping: JSON.stringify(mappingText),
};

test("a stored mapping is read in every member, and written as it was stored", () => {
  const mapping = readMapping(mappingItem);

  expect(mapping).toEqual({
    id: "map_1",
    workspaceId: "ws_1",
    sfObject: "Contact",
    pgTable: "contact",
    syncDirection: "pg_to_sf",
    active: false,
    fields: ["Last_Name__c", "LastName"],
    upsertField: "Key__c",
    pollingSeconds: 60,
    notifyEnabled: true,
    conflictPolicy: "latest_wins",
    capture: "always",
    filter: "Last_Name__c != null",
    foreign: { sf_key: { other_key: 1 }, revision: 7 },
    configVersion: 7,
    provisioning: { state: "failed", version: 7, reason: "no_such_column" },
    createdAt: new Date("2026-03-01T11:00:00.000Z"),
    updatedAt: new Date("2026-03-01T11:00:31.000Z"),
    deletedAt: new Date("2026-03-02T11:00:00.000Z"),
  });
  expect(writeMapping(mapping)).toEqual(mappingItem);
});

test("a mapping of the first version, which knew no capture mode, is read", () => {
  const { capture: _, ...text } = mappingText;
  const provisioning = { state: "pending" };

  const mapping = readMapping({ ...mappingItem, provisioning, deleted_at: null, mapping: JSON.stringify(text) });

  expect(mapping).toMatchObject({ capture: "origin", provisioning, deletedAt: null });
});

const webhook = {
  pk: "ws_1",
  sk: "whk_1",
  url: "https://example.com/hook",
  events: ["sync.broken", "record.failed"],
  description: "on call",
  active: true,
  secret: "sealed",
  previous_secrets: [{ secret: "sealed_before", until: "2026-03-02T11:00:00.000Z" }],
  created_at: "2026-03-01T11:00:00.000Z",
  updated_at: "2026-03-01T11:00:31.000Z",
  failing_since: "2026-03-01T12:00:00.000Z",
  slow_until: "2026-03-01T12:01:00.000Z",
  version: 3,
};

test("a stored webhook is read in every member, and written as it was stored", () => {
  const read = readWebhook(webhook);

  expect(read).toEqual({
    id: "whk_1",
    workspaceId: "ws_1",
    url: "https://example.com/hook",
    events: ["sync.broken", "record.failed"],
    description: "on call",
    active: true,
    secrets: {
      current: "sealed",
      previous: [{ secret: "sealed_before", until: new Date("2026-03-02T11:00:00.000Z") }],
    },
    createdAt: new Date("2026-03-01T11:00:00.000Z"),
    updatedAt: new Date("2026-03-01T11:00:31.000Z"),
    failingSince: new Date("2026-03-01T12:00:00.000Z"),
    slowUntil: new Date("2026-03-01T12:01:00.000Z"),
    version: 3,
  });
  expect(webhookItem(read)).toEqual(webhook);
});

test("a webhook that answers quickly keeps no times of its health", () => {
  const { failing_since: _, slow_until: __, ...healthy } = webhook;

  const read = readWebhook(healthy);

  expect(read).toMatchObject({ failingSince: null, slowUntil: null });
  expect(webhookItem(read)).toEqual(healthy);
});

const token = {
  pk: "hash",
  id: "tok_1",
  workspace_id: "ws_1",
  name: "grafana",
  owner: "ada@example.com",
  scopes: ["read", "operate"],
  created_at: "2026-03-01T11:00:00.000Z",
  valid_until: "2026-03-31T11:00:00.000Z",
  revoked_at: "2026-03-02T11:00:00.000Z",
  last_used_at: "2026-03-01T11:05:00.000Z",
  expires_at: 1_777_546_800,
};

test("a stored token is read in every member, and what it lacks is null", async () => {
  const stored = (Item: object) =>
    tokens({ table: String, client: { send: async () => ({ Item }) } } as never as Database);
  const { valid_until: _, revoked_at: __, last_used_at: ___, expires_at: ____, ...unlimited } = token;

  expect(await stored(token).find("hash")).toEqual({
    id: "tok_1",
    workspaceId: "ws_1",
    name: "grafana",
    owner: "ada@example.com",
    scopes: ["read", "operate"],
    createdAt: new Date("2026-03-01T11:00:00.000Z"),
    validUntil: new Date("2026-03-31T11:00:00.000Z"),
    revokedAt: new Date("2026-03-02T11:00:00.000Z"),
    lastUsedAt: new Date("2026-03-01T11:05:00.000Z"),
  });
  expect(await stored(unlimited).find("hash")).toMatchObject({ validUntil: null, revokedAt: null, lastUsedAt: null });
});
