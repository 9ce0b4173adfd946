import { BatchWriteCommand, paginateScan } from "@aws-sdk/lib-dynamodb";
import {
  baselines,
  connections,
  counters,
  database,
  deliveries,
  importPlans,
  mappings,
  now,
  rateLimits,
  repeats,
  slowSlots,
  vault,
  webhooks,
  workspaces,
} from "../../../functions/services/composition.ts";
import { pepper } from "../../../lib/adapters/dynamodb/access/pepper.ts";
import { tokens } from "../../../lib/adapters/dynamodb/access/tokens.ts";
import { engineMemory } from "../../../lib/adapters/dynamodb/engine/engine.ts";
import { keepFigures } from "../../../lib/adapters/dynamodb/engine/kept-figures.ts";
import { newDelivery } from "../../../lib/model/delivery/delivery.ts";
import { HEALTHY } from "../../../lib/model/engine.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import type {
  CyclesMessage,
  DeliveryMessage,
  EventMessage,
  LoadMessage,
  ProvisioningMessage,
  TickMessage,
} from "../../../lib/model/messages.ts";
import { type QueueName, TABLES, type TableName } from "../../../lib/model/resources.ts";
import { type AuditAction, type AuditEntry, auditEntry } from "../../../lib/model/workspace/audit.ts";
import { plannedBudget } from "../doubles/planned-budget.ts";

type Item = Readonly<Record<string, unknown>>;

/** One stored item of each kind, by `<table> <kind of sort key>`. */
export type Items = Readonly<Record<string, Item>>;

const AT = new Date("2026-03-01T11:00:00.000Z");
const LATER = new Date("2026-03-01T11:00:31.000Z");

/** Names that samples have in the place of ids. */
export const SAMPLE = {
  workspace: "ws_sample",
  mapping: "map_sample",
  planned: "map_planned",
  webhook: "whk_sample",
  delivery: "dlv_sample",
  event: "evt_sample",
  token: "tok_sample",
  tokenHash: { hash: "hash-of-sample", pepper: 1 },
} as const;

const to = { workspace_id: "ws_nobody", mapping_id: "map_nobody" };

/** A message of each kind, as this version sends it, to no workspace: its reader finds nothing to do. */
export const MESSAGES: Readonly<Partial<Record<QueueName, readonly object[]>>> = {
  fanOut: [{ ...to, scheduled_at: AT.toISOString() } satisfies TickMessage],
  cycles: [
    { ...to, also: ["map_another"], kind: "beat", slot: 1_767_607_200 } satisfies CyclesMessage,
    { ...to, kind: "poll", slot: null } satisfies CyclesMessage,
    { ...to, kind: "pull", slot: null } satisfies CyclesMessage,
  ],
  loads: (["load", "backfill", "sweep"] as const).map((kind) => ({ ...to, kind }) satisfies LoadMessage),
  provisioning: [
    { ...to, import_id: null } satisfies ProvisioningMessage,
    { ...to, import_id: null, anew: true } satisfies ProvisioningMessage,
    { ...to, import_id: null, describe: true } satisfies ProvisioningMessage,
    { workspace_id: to.workspace_id, mapping_id: null, import_id: "imp_nobody" } satisfies ProvisioningMessage,
  ],
  sweeps: [{ scheduled_at: AT.toISOString() }],
  events: [{ workspace_id: to.workspace_id, event_id: "evt_nobody" } satisfies EventMessage],
  deliveries: (["automatic", "manual"] as const).map(
    (kind) => ({ delivery_id: "dlv_nobody", kind, number: 1 }) satisfies DeliveryMessage,
  ),
};

/** Writes an item of every kind through the service's own adapters. */
export async function writeSamples(): Promise<void> {
  await writeAccess();
  await writeConfiguration();
  await writeEngine();
  await writeDeliveries();
}

async function writeAccess(): Promise<void> {
  const { workspace, token, tokenHash } = SAMPLE;
  const credentials = { kind: "password", clientId: "c", clientSecret: "s", username: "u", password: "p" } as const;
  const salesforce = {
    loginUrl: "https://login.example.com",
    instanceUrl: "https://org.example.com",
    organizationId: "00D000000000000AAA",
    userId: "005000000000000AAA",
    formerUserIds: [],
    apiVersion: "66.0",
    accessToken: null,
    credentials,
  };
  const postgres = { url: "postgres://u:p@db.example.com/app", schema: "salesforce" };
  await workspaces().create(
    { id: workspace, name: "Sample", createdAt: AT, postgres, salesforce },
    entry("workspace.created", workspace),
  );
  const authorization = { loginUrl: "https://login.example.com", clientId: "c", clientSecret: null };
  await connections().keepAuthorization(
    workspace,
    "state_sample",
    { ...authorization, redirectUri: "https://example.com", codeVerifier: "v" },
    LATER,
  );
  const common = { id: token, workspaceId: workspace, name: "sample", owner: "ada@example.com", createdAt: AT };
  await tokens(database()).create(
    tokenHash,
    { ...common, scopes: ["read", "admin"], invited: null, validUntil: LATER, revokedAt: null, lastUsedAt: null },
    entry("token.created", token),
  );
  await tokens(database()).touch(tokenHash, LATER);
  await pepper(database(), vault(), now).readOrCreate();
  await rateLimits().count("192.0.2.1", AT);
  const request = { workspaceId: workspace, tokenId: token, key: "sample", fingerprint: "f" };
  await repeats().begin(request, AT);
  await repeats().keep(request, { statusCode: 200, headers: { A: "b" }, body: "{}" }, AT);
}

async function writeConfiguration(): Promise<void> {
  const { workspace, mapping } = SAMPLE;
  const made = mappingOf(mapping, "Contact");
  const detail = { mapping_id: mapping, sf_object: "Contact", pg_table: "contact", actor: "ada@example.com" };
  const event = {
    id: SAMPLE.event,
    workspaceId: workspace,
    event: "mapping.activated",
    occurredAt: AT,
    detail,
  } as const;
  await mappings().change(workspace, 0, {
    changes: [{ before: null, after: made }],
    audit: [entry("mapping.created", mapping)],
    events: [event],
  });
  await counters().begin(made);
  await counters().set(
    {
      workspaceId: workspace,
      mappingId: mapping,
      sfObject: "Contact",
      rowsSynced: 5,
      rowsFailed: 1,
      apiCalls: { SOAP: 3, REST: 7 },
    },
    AT,
  );
  await counters().setQueueDepth({ workspaceId: workspace, rows: 2 }, AT);
  await counters().addCalls({ workspaceId: workspace, apiCalls: { REST: 2 } });
  const baseline = { id: "bas_sample", workspaceId: workspace, capturedAt: AT, mappings: [made] };
  await baselines().save(baseline, entry("config.baseline_saved", "bas_sample"));
  const { generation } = await mappings().list(workspace);
  const plan = { id: "imp_sample", workspaceId: workspace, actor: "ada@example.com", at: AT };
  await importPlans().commit(
    { ...plan, changes: [{ before: null, after: mappingOf(SAMPLE.planned, "Account") }] },
    generation,
    entry("config.imported", "imp_sample"),
  );
}

async function writeEngine(): Promise<void> {
  const { workspace, mapping } = SAMPLE;
  const memory = engineMemory(database());
  const broken = {
    failedCycles: 3,
    failingSince: AT,
    brokenSince: AT,
    lastFailure: { reason: "salesforce_authorization", message: "sign in again" },
    restUntil: LATER,
    failedLoads: 0,
    loadFailure: null,
    holding: { since: AT, announcedAt: AT },
    callSize: { size: 50, at: AT },
    deaths: { count: 2, at: AT },
    rewoundAt: AT,
    reached: { fence: 7, logId: 9, at: AT },
  } as const;
  await memory.save(workspace, mapping, { state: HEALTHY, version: 0 }, broken, []);
  await memory.saveBudget(workspace, async () =>
    plannedBudget({ used: 800, limit: 1000, at: AT }, { paceSeconds: 60 }),
  );
  await memory.claimProbe(workspace, 1_767_607_200);
  const seen = { waiting: 1, heldDeletes: 0, inboundErrors: 0, conflicts: 0, pulled: 0, lagP50: 1, lagP95: 2 };
  const figures = { id: mapping, object: "Contact", oldestAt: AT.getTime(), lastCycleAt: AT.getTime(), ...seen };
  await keepFigures(database(), () => LATER).set(workspace, { mappings: [figures], webhooks: [] });
}

async function writeDeliveries(): Promise<void> {
  const { workspace, webhook, delivery, event } = SAMPLE;
  const common = { id: webhook, workspaceId: workspace, url: "https://hooks.example.com/" };
  await webhooks().create(
    {
      ...common,
      events: ["sync.broken", "record.failed"],
      description: "sample",
      active: true,
      secrets: { current: "sealed", previous: [{ secret: "sealed before", until: LATER }] },
      createdAt: AT,
      updatedAt: AT,
      failingSince: null,
      slowUntil: null,
      version: 1,
    },
    entry("webhook.created", webhook),
  );
  await webhooks().noteHealth({ workspaceId: workspace, webhookId: webhook }, { failingSince: AT, slowUntil: LATER });
  await slowSlots().take(webhook, "holder", LATER);
  const base = {
    id: delivery,
    workspaceId: workspace,
    webhookId: webhook,
    eventId: event,
    event: "sync.broken",
  } as const;
  const fresh = newDelivery({ ...base, body: "{}", createdAt: AT });
  await deliveries().add([fresh]);
  const attempt = (number: number, code: number | null) => ({
    number,
    kind: number === 1 ? ("automatic" as const) : ("manual" as const),
    startedAt: AT,
    outcome: {
      endedAt: LATER,
      durationMs: 42,
      code,
      body: "no",
      truncated: false,
      problem: code === null ? "no answer came within 5 seconds" : null,
    },
  });
  const first = {
    ...fresh,
    status: "failed" as const,
    deliveredAt: LATER,
    nextAttemptAt: LATER,
    automaticAttempts: 1,
    lostAttempts: 1,
    latest: attempt(1, null),
    version: 1,
  };
  await deliveries().replace(fresh, first);
  const asked = { manualRequested: 1, manualAttempts: 1, manualRequestedAt: AT, stopped: "the webhook was deleted" };
  const second = { ...first, ...asked, responseCode: 500, latest: attempt(2, 500), version: 2 };
  await deliveries().replace(first, second);
}

/** A mapping with something in every field. */
function mappingOf(id: string, sfObject: string): Mapping {
  return {
    id,
    workspaceId: SAMPLE.workspace,
    sfObject,
    pgTable: sfObject.toLowerCase(),
    syncDirection: "bidirectional",
    active: true,
    fields: ["Email", "LastName"],
    upsertField: "Key__c",
    pollingSeconds: 600,
    whenQuietSeconds: 90,
    notifyEnabled: true,
    conflictPolicy: "latest_wins",
    capture: "origin",
    deleteLimit: "500",
    sweepDays: 7,
    keepHistory: false,
    checkBeforeSave: "off",
    batchSize: 50,
    filter: "Email != null",
    foreign: { sf_max_daily_api_calls: 30_000 },
    configVersion: 1,
    provisioning: { state: "failed", version: 1, reason: "sample" },
    createdAt: AT,
    updatedAt: AT,
    deletedAt: null,
  };
}

const entry = (action: AuditAction, resourceId: string): AuditEntry =>
  auditEntry({ workspaceId: SAMPLE.workspace, actor: "ada@example.com", at: AT }, action, resourceId, { n: 1 });

/** What lies in the tables now, one item of each kind. */
export async function readKinds(): Promise<Items> {
  const kinds: Record<string, Item> = {};
  for (const item of await readAll()) kinds[item.kind] ??= item.item;
  return Object.fromEntries(Object.entries(kinds).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** All items, as they lie. */
export async function readAll() {
  const found: { readonly table: TableName; readonly kind: string; readonly item: Item }[] = [];
  for (const table of Object.keys(TABLES) as TableName[]) {
    const pages = paginateScan({ client: database().client }, { TableName: database().table(table) });
    for await (const { Items = [] } of pages) {
      found.push(...Items.map((item) => ({ table, kind: kindOf(table, item), item })));
    }
  }
  return found;
}

/** Empties every table. */
export async function removeAll(): Promise<void> {
  for (const { table, item } of await readAll()) {
    const Key = TABLES[table].sorted ? { pk: item["pk"], sk: item["sk"] } : { pk: item["pk"] };
    await write(table, { DeleteRequest: { Key } });
  }
}

/** A value as JSON can hold it: bytes as `{ $bytes: "…" }`. */
export function frozen(value: unknown): unknown {
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString("base64") };
  if (Array.isArray(value)) return value.map(frozen);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, frozen(inner)]));
}

/** And back. */
export function thawed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(thawed);
  if (value === null || typeof value !== "object") return value;
  if ("$bytes" in value) return Uint8Array.from(Buffer.from(String(value.$bytes), "base64"));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, thawed(inner)]));
}

/** Puts items as they are, past every adapter. */
export async function putAll(items: readonly { readonly table: TableName; readonly item: Item }[]): Promise<void> {
  for (const { table, item: Item } of items) await write(table, { PutRequest: { Item } });
}

async function write(table: TableName, request: object): Promise<void> {
  await database().client.send(new BatchWriteCommand({ RequestItems: { [database().table(table)]: [request] } }));
}

/** `mappings guard#object`: the table and what its sort key, or else its key, begins with. */
function kindOf(table: TableName, { pk, sk }: Item): string {
  const key = String(sk ?? pk);
  if (table === "audit") return `audit ${/^\d+$/.test(key) ? "entry" : key}`;
  if (table === "attempts") return "attempts attempt";
  if (table === "rateLimits") return `rateLimits ${key.startsWith("repeat#") ? "repeat" : "window"}`;
  const words = key
    .split("#")
    .filter((word) => !/_sample$|_planned$|^\d|:/.test(word) && !/contact|account/.test(word));
  const kind = words.map((word) => (/^(whk|dlv|evt|tok)_/.test(word) ? "" : word)).filter(Boolean);
  return [table, table === "tokens" || table === "deliveries" ? "" : kind.join("#")].join(" ").trim();
}
