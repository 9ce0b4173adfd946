import { expect, test } from "vitest";
import { tokens } from "../../../lib/adapters/dynamodb/access/tokens.ts";
import type { Database } from "../../../lib/adapters/dynamodb/client/client.ts";
import { present } from "../../../lib/adapters/dynamodb/client/difference.ts";
import {
  attemptItem,
  changingAttributes,
  fixedAttributes,
  readAttempt,
  readDelivery,
} from "../../../lib/adapters/dynamodb/delivery/delivery-item.ts";
import { readWebhook, webhookItem } from "../../../lib/adapters/dynamodb/delivery/webhook-item.ts";
import { readMapping, writeMapping } from "../../../lib/adapters/dynamodb/mappings/mapping-item.ts";

// Written out by hand, as versions before this one have stored them.

const mappingText = {
  id: "map_1",
  sf_object: "Contact",
  pg_table: "contact",
  sync_direction: "pg_to_sf",
  fields: ["Last_Name__c", "LastName"],
  upsert_field: "Key__c",
  polling_seconds: 60,
  when_quiet_seconds: 90,
  notify_enabled: true,
  conflict_policy: "latest_wins",
  capture: "always",
  delete_limit: "25%",
  sweep_days: 3,
  keep_history: false,
  check_before_save: "off",
  batch_size: 50,
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

test("a stored mapping that waits for a migration keeps what it waits for", () => {
  const migration = {
    schema: "crm",
    table: "contact",
    create: false,
    columns: [{ column: "sfid", type: "varchar(18)" }],
    wider: [{ column: "note", type: "text" }],
    indexes: [{ name: "contact_sfid_key", column: "sfid", unique: true }],
  };
  for (const provisioning of [
    { state: "pending", reason: "r", migration },
    { state: "ready", version: 7, migration },
  ]) {
    expect(readMapping({ ...mappingItem, provisioning }).provisioning).toEqual(provisioning);
  }
});

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
    whenQuietSeconds: 90,
    notifyEnabled: true,
    conflictPolicy: "latest_wins",
    capture: "always",
    deleteLimit: "25%",
    sweepDays: 3,
    keepHistory: false,
    checkBeforeSave: "off",
    batchSize: 50,
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

test("a mapping of an earlier version, which knew no capture mode, no limit of deletes and no days of sweeps, is read", () => {
  const {
    capture: _,
    delete_limit: __,
    sweep_days: ___,
    batch_size: ____,
    keep_history: _____,
    check_before_save: _______,
    ...later
  } = mappingText;
  const { when_quiet_seconds: ______, ...text } = later;
  const provisioning = { state: "pending" };

  const mapping = readMapping({ ...mappingItem, provisioning, deleted_at: null, mapping: JSON.stringify(text) });

  expect(mapping).toMatchObject({
    capture: "origin",
    deleteLimit: "auto",
    sweepDays: 1,
    keepHistory: true,
    checkBeforeSave: "auto",
    whenQuietSeconds: null,
    batchSize: 200,
    provisioning,
    deletedAt: null,
  });
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

test("a secret that version 0.3.1 has prepared signs on, for a week at most", () => {
  const read = readWebhook({ ...webhook, next_secret: "sealed_next" });

  expect(read.secrets.previous).toEqual([
    { secret: "sealed_next", until: new Date("2026-03-08T11:00:31.000Z") },
    { secret: "sealed_before", until: new Date("2026-03-02T11:00:00.000Z") },
  ]);
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

const HASH = { hash: "hash", pepper: 1 };

test("a stored token is read in every member, and what it lacks is null", async () => {
  const stored = (Item: object) =>
    tokens({ table: String, client: { send: async () => ({ Item }) } } as never as Database);
  const { valid_until: _, revoked_at: __, last_used_at: ___, expires_at: ____, ...unlimited } = token;

  expect(await stored(token).find(HASH, null)).toEqual({
    id: "tok_1",
    workspaceId: "ws_1",
    name: "grafana",
    owner: "ada@example.com",
    scopes: ["read", "operate"],
    invited: null,
    createdAt: new Date("2026-03-01T11:00:00.000Z"),
    validUntil: new Date("2026-03-31T11:00:00.000Z"),
    revokedAt: new Date("2026-03-02T11:00:00.000Z"),
    lastUsedAt: new Date("2026-03-01T11:05:00.000Z"),
  });
  expect(await stored(unlimited).find(HASH, null)).toMatchObject({
    validUntil: null,
    revokedAt: null,
    lastUsedAt: null,
  });
});

const attempt = {
  number: 2,
  kind: "manual",
  started_at: "2026-03-01T11:00:30.000Z",
  outcome: {
    ended_at: "2026-03-01T11:00:31.000Z",
    duration_ms: 1000,
    code: 500,
    body: "no_luck",
    truncated: true,
    problem: "answered late",
  },
};

const listed = {
  id: "dlv_1",
  event: "sync.broken",
  status: "failed",
  response_code: 500,
  delivered_at: "2026-03-01T11:00:31.000Z",
  next_retry_at: "2026-03-01T11:05:31.000Z",
  created_at: "2026-03-01T11:00:00.000Z",
  next_attempt_at: "2026-03-01T11:05:31.000Z",
  automatic_attempts: 1,
};

const delivery = {
  pk: "dlv_1",
  webhook_id: "whk_1",
  listed_at: "2026-03-01T11:00:00.000Z#dlv_1",
  workspace_id: "ws_1",
  event_id: "evt_1",
  body: '{"data":{"mapping_id":"map_1"}}',
  expires_at: 1_774_954_800,
  listed: JSON.stringify(listed),
  manual_requested: 2,
  manual_attempts: 1,
  manual_requested_at: "2026-03-01T11:02:00.000Z",
  lost_attempts: 1,
  latest: attempt,
  stopped: "the webhook was deleted",
  version: 4,
  due_shard: "1",
  due_at: "2026-03-01T11:02:00.000Z",
};

const readOf = {
  number: 2,
  kind: "manual",
  startedAt: new Date("2026-03-01T11:00:30.000Z"),
  outcome: {
    endedAt: new Date("2026-03-01T11:00:31.000Z"),
    durationMs: 1000,
    code: 500,
    body: "no_luck",
    truncated: true,
    problem: "answered late",
  },
};

test("a stored delivery is read in every member, and written as it was stored", () => {
  const read = readDelivery(delivery);

  expect(read).toEqual({
    id: "dlv_1",
    event: "sync.broken",
    createdAt: new Date("2026-03-01T11:00:00.000Z"),
    status: "failed",
    responseCode: 500,
    deliveredAt: new Date("2026-03-01T11:00:31.000Z"),
    nextAttemptAt: new Date("2026-03-01T11:05:31.000Z"),
    automaticAttempts: 1,
    workspaceId: "ws_1",
    webhookId: "whk_1",
    eventId: "evt_1",
    body: '{"data":{"mapping_id":"map_1"}}',
    manualRequested: 2,
    manualAttempts: 1,
    manualRequestedAt: new Date("2026-03-01T11:02:00.000Z"),
    lostAttempts: 1,
    latest: readOf,
    stopped: "the webhook was deleted",
    version: 4,
  });
  expect({ ...fixedAttributes(read, 30), ...changingAttributes(read) }).toEqual(delivery);
});

test("a delivery that was not attempted yet lacks what it has not, and so does an attempt without an answer", () => {
  const { manual_requested_at: _, latest: __, stopped: ___, ...fresh } = delivery;
  const lost = { number: 2, kind: "automatic", started_at: attempt.started_at };
  const { code: ____, problem: _____, ...silent } = attempt.outcome;

  const read = readDelivery({ ...fresh, manual_requested: 1 });

  expect(read).toMatchObject({ manualRequestedAt: null, latest: null, stopped: null });
  expect(present(changingAttributes(read))).not.toHaveProperty("latest");
  expect(readAttempt(lost)).toMatchObject({ outcome: null });
  expect(attemptItem(read, readAttempt(lost), 30)).toEqual({
    pk: "dlv_1",
    sk: "000002",
    ...lost,
    expires_at: delivery.expires_at,
  });
  expect(readAttempt({ ...lost, outcome: silent }).outcome).toMatchObject({ code: null, problem: null });
  expect(attemptItem(read, readAttempt({ ...lost, outcome: silent }), 30)["outcome"]).toEqual(silent);
});
