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
  readListed,
} from "../../../lib/adapters/dynamodb/delivery/delivery-item.ts";
import { readWebhook, webhookItem } from "../../../lib/adapters/dynamodb/delivery/webhook-item.ts";
import { readMapping, writeMapping } from "../../../lib/adapters/dynamodb/mappings/mapping-item.ts";
import { listedDelivery } from "../../../lib/model/delivery/delivery.ts";

// Written out by hand, as versions before this one have stored them.

/** The members of an item in the names of the code, times as dates. */
function inCode(item: object): Record<string, unknown> {
  const members = Object.entries(item).map(([name, value]): [string, unknown] => {
    const isTime = typeof value === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    const camel = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    return [camel, isTime ? new Date(value) : isObject ? inCode(value) : value];
  });
  return Object.fromEntries(members);
}

/** An item that lacks some members. */
const without = (item: object, ...names: readonly string[]) =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)));

const TIMES = { created_at: "2026-03-01T11:00:00.000Z", updated_at: "2026-03-01T11:00:31.000Z" };

const mappingText = {
  ...{ id: "map_1", sf_object: "Contact", pg_table: "contact", sync_direction: "pg_to_sf" },
  ...{ fields: ["Last_Name__c", "LastName"], upsert_field: "Key__c", polling_seconds: 60, when_quiet_seconds: 90 },
  ...{ notify_enabled: true, conflict_policy: "latest_wins", capture: "always", delete_limit: "25%", sweep_days: 3 },
  ...{ keep_history: false, check_before_save: "off", batch_size: 50, filter: "Last_Name__c != null" },
  foreign: { sf_key: { other_key: 1 }, revision: 7 },
  ...TIMES,
};
const mapping = {
  ...{ pk: "ws_1", sk: "mapping#map_1", active: false, config_version: 7 },
  provisioning: { state: "failed", version: 7, reason: "no_such_column" },
  deleted_at: "2026-03-02T11:00:00.000Z",
  mapping: JSON.stringify(mappingText),
};

test("a stored mapping is read in every member, written as it was stored, and keeps the migration that it waits for", () => {
  const read = readMapping(mapping);

  const { mapping: _, pk, sk: __, ...members } = mapping;
  const { foreign } = mappingText;
  expect(read).toEqual({ ...inCode(mappingText), ...inCode(members), workspaceId: pk, foreign });
  expect(writeMapping(read)).toEqual(mapping);
  const migration = {
    ...{ schema: "crm", table: "contact", create: false, columns: [{ column: "sfid", type: "varchar(18)" }] },
    wider: [{ column: "note", type: "text" }],
    indexes: [{ name: "contact_sfid_key", column: "sfid", unique: true }],
  };
  for (const provisioning of [
    { state: "pending", reason: "r", migration },
    { state: "ready", version: 7, migration },
  ])
    expect(readMapping({ ...mapping, provisioning }).provisioning).toEqual(provisioning);
});

test("a mapping of an earlier version, which knew no capture mode, no limit of deletes and no days of sweeps, is read", () => {
  const later = ["capture", "delete_limit", "sweep_days", "batch_size", "keep_history", "check_before_save"];
  const text = JSON.stringify(without(mappingText, "when_quiet_seconds", ...later));
  const provisioning = { state: "pending" };

  expect(readMapping({ ...mapping, provisioning, deleted_at: null, mapping: text })).toMatchObject({
    ...{ capture: "origin", deleteLimit: "auto", sweepDays: 1, keepHistory: true, checkBeforeSave: "auto" },
    ...{ whenQuietSeconds: null, batchSize: 200, provisioning, deletedAt: null },
  });
});

const webhook = {
  ...{ pk: "ws_1", sk: "whk_1", url: "https://example.com/hook", events: ["sync.broken", "record.failed"] },
  ...{ description: "on call", active: true, secret: "sealed" },
  previous_secrets: [{ secret: "sealed_before", until: "2026-03-02T11:00:00.000Z" }],
  ...TIMES,
  ...{ failing_since: "2026-03-01T12:00:00.000Z", slow_until: "2026-03-01T12:01:00.000Z", version: 3 },
};

test("a stored webhook is read in every member, and written as it was stored, also without times of its health", () => {
  const [read, healthy] = [webhook, without(webhook, "failing_since", "slow_until")].map(readWebhook);

  const { pk: workspaceId, sk: id, secret: current, previous_secrets, ...members } = webhook;
  const secrets = { current, previous: previous_secrets.map(inCode) };
  expect(read).toEqual({ ...inCode(members), id, workspaceId, secrets });
  expect(healthy).toEqual({ ...read, failingSince: null, slowUntil: null });
  expect([read, healthy].map((one) => one && webhookItem(one))).toEqual([
    webhook,
    without(webhook, "failing_since", "slow_until"),
  ]);
});

test("a secret that version 0.3.1 has prepared signs on for a week, and until March 2027 at least", () => {
  const untilOf = (item: object) => readWebhook({ ...item, next_secret: "sealed_next" }).secrets.previous;

  expect(untilOf({ ...webhook, updated_at: "2027-02-27T11:00:00.000Z" })[0]?.until).toEqual(
    new Date("2027-03-06T11:00:00.000Z"),
  );
  expect(untilOf(webhook)).toEqual([
    { secret: "sealed_next", until: new Date("2027-03-01T00:00:00.000Z") },
    { secret: "sealed_before", until: new Date("2026-03-02T11:00:00.000Z") },
  ]);
});

test("a stored token is read in every member, and what it lacks is null", async () => {
  const ends = {
    ...{ valid_until: "2026-03-31T11:00:00.000Z", revoked_at: "2026-03-02T11:00:00.000Z" },
    ...{ last_used_at: "2026-03-01T11:05:00.000Z" },
  };
  const token = {
    ...{ id: "tok_1", workspace_id: "ws_1", name: "grafana", owner: "ada@example.com", scopes: ["read", "operate"] },
    created_at: TIMES.created_at,
  };
  const find = (Item: object) =>
    tokens({
      table: String,
      client: { send: async () => ({ Item: { pk: "hash", ...Item } }) },
    } as never as Database).find({ hash: "hash", pepper: 1 }, null);

  expect(await find({ ...token, ...ends, expires_at: 1_777_546_800 })).toEqual({
    ...inCode({ ...token, ...ends }),
    invited: null,
  });
  expect(await find(token)).toMatchObject({ validUntil: null, revokedAt: null, lastUsedAt: null });
});

const attempt = {
  ...{ number: 2, kind: "manual", started_at: "2026-03-01T11:00:30.000Z" },
  outcome: {
    ...{ ended_at: "2026-03-01T11:00:31.000Z", duration_ms: 1000, code: 500, body: "no_luck", truncated: true },
    problem: "answered late",
  },
};
const listed = {
  ...{ id: "dlv_1", event: "sync.broken", status: "failed", response_code: 500 },
  ...{ delivered_at: "2026-03-01T11:00:31.000Z", next_retry_at: "2026-03-01T11:05:31.000Z" },
  ...{ created_at: TIMES.created_at, next_attempt_at: "2026-03-01T11:05:31.000Z", automatic_attempts: 1 },
};
const state = {
  ...{ workspace_id: "ws_1", webhook_id: "whk_1", event_id: "evt_1", body: '{"data":{"mapping_id":"map_1"}}' },
  ...{ manual_requested: 2, manual_attempts: 1, manual_requested_at: "2026-03-01T11:02:00.000Z", lost_attempts: 1 },
  ...{ latest: attempt, stopped: "the webhook was deleted", version: 4 },
};
const delivery = {
  ...{ pk: "dlv_1", listed_at: `${TIMES.created_at}#dlv_1`, expires_at: 1_774_954_800, listed: JSON.stringify(listed) },
  ...{ ...state, due_shard: "1", due_at: "2026-03-01T11:02:00.000Z" },
};

test("a stored delivery is read in every member, and written as it was stored", () => {
  const read = readDelivery(delivery);

  const { next_retry_at: _, ...shown } = listed;
  expect(read).toEqual({ ...inCode(shown), ...inCode(state) });
  expect({ ...fixedAttributes(read, 30), ...changingAttributes(read) }).toEqual(delivery);
});

test("a delivery is listed as the contract shows it, also one whose text has neither id nor retry, as it was kept before", () => {
  const before = JSON.stringify(without(listed, "id", "next_retry_at"));

  for (const text of [delivery.listed, before])
    expect(listedDelivery(readListed({ pk: "dlv_1", listed: text }))).toEqual(listedDelivery(readDelivery(delivery)));
});

test("a delivery that was not attempted yet lacks what it has not, and so does an attempt without an answer", () => {
  const lost = without(attempt, "outcome");
  const silent = without(attempt.outcome, "code", "problem");

  const read = readDelivery({
    ...without(delivery, "manual_requested_at", "latest", "stopped"),
    manual_requested: 1,
  });

  expect(read).toMatchObject({ manualRequestedAt: null, latest: null, stopped: null });
  expect(present(changingAttributes(read))).not.toHaveProperty("latest");
  expect(readAttempt(lost)).toMatchObject({ outcome: null });
  const item = { pk: "dlv_1", sk: "000002", ...lost, expires_at: delivery.expires_at };
  expect(attemptItem(read, readAttempt(lost), 30)).toEqual(item);
  expect(readAttempt({ ...lost, outcome: silent }).outcome).toMatchObject({ code: null, problem: null });
  expect(attemptItem(read, readAttempt({ ...lost, outcome: silent }), 30)["outcome"]).toEqual(silent);
});
