import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  baselines,
  connections,
  counters,
  database,
  deliveries,
  engineReports,
  eventRows,
  importPlans,
  mappings,
  now,
  repeats,
  slowSlots,
  tokens,
  webhooks,
  workspaces,
} from "../../functions/services/composition.ts";
import { engineMemory } from "../../lib/adapters/dynamodb/engine/engine.ts";
import type { QueueName, TableName } from "../../lib/model/resources.ts";
import { WORKERS } from "../../lib/model/resources.ts";
import {
  frozen,
  MESSAGES,
  putAll,
  readAll,
  readKinds,
  removeAll,
  SAMPLE,
  thawed,
  writeSamples,
} from "../support/checks/stored-samples.ts";
import { auditPage } from "../support/clients/audit-page.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";

/**
 * What a released version wrote, frozen: two versions work side by side while a deployment runs, and after it the new
 * one finds the old one's messages and items. A new kind is added by `FREEZE=1 vitest run test/contracts/neighbours`,
 * which never changes a kind that is there: that would be to forget what lies in people's tables.
 */
const FILE = join(import.meta.dirname, "released-1.json");

type Json = Readonly<Record<string, unknown>>;

interface Released {
  readonly messages: Readonly<Record<string, readonly Json[]>>;
  /** All items of one run of the samples; `kind` shows which are alike. */
  readonly items: readonly { readonly table: TableName; readonly kind: string; readonly item: Json }[];
}

let cloud: BridgeCloud;
let released: Released;
beforeAll(async () => {
  cloud = await startBridgeCloud();
  const { scheduler, accountId, region } = cloud;
  scheduler.ensureGroup("bridge-test");
  Object.assign(process.env, {
    SCHEDULE_GROUP: "bridge-test",
    SCHEDULER_ROLE_ARN: `arn:aws:iam::${accountId}:role/beat`,
    FAN_OUT_QUEUE_ARN: `arn:aws:sqs:${region}:${accountId}:bridge-test-fanOut`,
  });
  if (process.env["FREEZE"] === "1") await freeze();
  released = read();
});
afterAll(() => cloud.close());

beforeEach(async () => {
  await removeAll();
});

test("every kind of message and of stored item is frozen", async () => {
  await writeSamples();

  expect(new Set(released.items.map(({ kind }) => kind))).toEqual(new Set(Object.keys(await readKinds())));
  expect(Object.keys(released.messages).sort()).toEqual(Object.keys(MESSAGES).sort());
});

test.each(Object.keys(WORKERS))("%s understands the messages that the released version has sent", async (name) => {
  const { queue } = WORKERS[name as keyof typeof WORKERS];
  // The queues of slow webhooks and of retries hold the same messages.
  const sent = released.messages[/^(retries|slowDeliveries)/.test(queue) ? "deliveries" : queue] ?? [];
  const { handler } = (await import(`../../functions/workers/${name}.ts`)) as {
    handler(event: SQSEvent): Promise<SQSBatchResponse>;
  };
  const Records = sent.map((message, at) => ({ messageId: String(at), body: JSON.stringify(message) }));

  expect(Records.length).toBeGreaterThan(0);
  expect(await handler({ Records } as SQSEvent)).toEqual({ batchItemFailures: [] });
});

test("what the released version has stored is read whole", async () => {
  await putAll(released.items);
  const { workspace, mapping, planned, webhook, delivery, event, tokenHash } = SAMPLE;

  expect(await workspaces().find(workspace)).toMatchObject({ id: workspace, name: "Sample", isConnected: true });
  expect(await tokens().find(tokenHash, null)).toMatchObject({ workspaceId: workspace, scopes: ["read", "admin"] });
  const listed = await mappings().list(workspace);
  expect(listed.mappings.map(({ id }) => id).sort()).toEqual([planned, mapping].sort());
  expect(listed.mappings.find(({ id }) => id === mapping)).toMatchObject({
    sfObject: "Contact",
    upsertField: "Key__c",
    conflictPolicy: "latest_wins",
    filter: "Email != null",
    foreign: { sf_max_daily_api_calls: 30_000 },
    provisioning: { state: "failed", version: 1, reason: "sample" },
  });
  expect(await importPlans().open(workspace)).toMatchObject({ changes: [{}] });
  expect((await baselines().latest(workspace))?.mappings).toHaveLength(1);
  const remembered = await engineMemory(database()).read(workspace, mapping);
  expect(remembered.engine.state).toMatchObject({ failedCycles: 3, lastFailure: { message: "sign in again" } });
  expect(remembered.budget).toMatchObject({ usage: { used: 800, limit: 1000 } });
  expect((await engineReports().read(workspace)).mappings).toHaveLength(1);
  expect(await counters().readAll()).toMatchObject({
    totals: [{ rowsSynced: 5, rowsFailed: 1, apiCalls: { SOAP: 3, REST: 7 } }],
    depths: [{ rows: 2 }],
    calls: [{ apiCalls: { REST: 2 } }],
  });
  expect(await webhooks().list(workspace)).toMatchObject([{ id: webhook, secrets: { previous: [{}] } }]);
  const [owed] = await deliveries().read([delivery]);
  expect(owed).toMatchObject({ status: "failed", responseCode: 500, manualAttempts: 1, latest: { number: 2 } });
  if (!owed) throw new Error("the delivery is not there");
  expect(await deliveries().history(owed)).toMatchObject([{ number: 1, outcome: { code: null } }, { number: 2 }]);
  expect(await eventRows().read([{ workspaceId: workspace, eventId: event }])).toMatchObject([
    { event: "mapping.activated", detail: { mapping_id: mapping } },
  ]);
  const audited = await auditPage({ workspaceId: workspace, actor: null, action: null }, { limit: 50, offset: 0 });
  expect(audited.total).toBeGreaterThanOrEqual(6);
  expect(audited.entries).toHaveLength(audited.total);
  expect(await slowSlots().take(webhook, "another", now())).toBe(true);
  const request = { workspaceId: workspace, tokenId: SAMPLE.token, key: "sample", fingerprint: "another" };
  expect((await repeats().begin(request, new Date("2026-03-01T11:00:01Z"))).state).toBe("other");
  expect(await connections().takeAuthorization(workspace, "state_sample", new Date("2027-01-01"))).toBeNull();
});

test("what this version writes has everything that the released one reads", async () => {
  await writeSamples();
  const written = await readAll();

  for (const { kind, item } of released.items) {
    const alike = written.filter((one) => one.kind === kind).map((one) => shapeOf(one.item));
    const missing = alike.map((shape) => Object.entries(shapeOf(item)).filter(([name, type]) => shape[name] !== type));
    const nearest = missing.sort((one, other) => one.length - other.length)[0];
    expect.soft(nearest, `${kind}: the released version would miss these`).toEqual([]);
  }
});

test("what this version sends has everything that the released one reads", () => {
  for (const [queue, messages] of Object.entries(released.messages)) {
    const today = (MESSAGES[queue as QueueName] ?? []).map((message) => shapeOf(message));
    for (const message of messages) {
      const needed = Object.entries(shapeOf(message)).filter(([name]) => !OPTIONAL.has(name));
      const isKept = today.some((shape) => needed.every(([name, type]) => shape[name] === type));
      expect.soft(isKept, `${queue} ${JSON.stringify(message)}`).toBe(true);
    }
  }
});

/** What the released version does without, as `lib/model/messages.ts` says. */
const OPTIONAL = new Set(["also", "anew", "describe"]);

/** Each attribute with its type, `null` and texts of JSON distinguished from others, nested ones by their path. */
function shapeOf(value: object, path = ""): Readonly<Record<string, string>> {
  return Object.assign(
    {},
    ...Object.entries(value).map(([name, inner]) => {
      const at = `${path}${name}`;
      const text = typeof inner === "string" ? jsonIn(inner) : null;
      if (text !== null) return { [at]: "json", ...shapeOf(text, `${at}.`) };
      if (inner === null || typeof inner !== "object") return { [at]: inner === null ? "null" : typeof inner };
      if (inner instanceof Uint8Array) return { [at]: "bytes" };
      if (Array.isArray(inner)) return { [at]: "array" };
      return { [at]: "object", ...shapeOf(inner, `${at}.`) };
    }),
  ) as Record<string, string>;
}

function jsonIn(text: string): object | null {
  if (!text.startsWith("{")) return null;
  return JSON.parse(text) as object;
}

const read = (): Released => thawed(JSON.parse(readFileSync(FILE, "utf8"))) as Released;

/** Adds the kinds that are not frozen yet. */
async function freeze(): Promise<void> {
  const known: Released = existsSync(FILE) ? read() : { messages: {}, items: [] };
  await writeSamples();
  const kinds = new Set(known.items.map(({ kind }) => kind));
  const added = (await readAll()).filter(({ kind }) => !kinds.has(kind));
  const all = { messages: { ...MESSAGES, ...known.messages }, items: [...known.items, ...added] };
  writeFileSync(FILE, `${JSON.stringify(frozen(all), null, 2)}\n`);
}
