import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import type { SQSEvent } from "aws-lambda";
import { expect, test, vi } from "vitest";
import { counters, deliveries, engineReports, now } from "../../functions/services/composition.ts";
import { handler as sweepMinute } from "../../functions/workers/sweep-minute.ts";
import { metricsText, scraper } from "../../lib/metrics/scrape.ts";
import { type Delivery, newDelivery } from "../../lib/model/delivery/delivery.ts";
import { newId } from "../../lib/model/id.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { ask } from "../support/clients/ask.ts";
import { makeWebhook } from "../support/worlds/make-webhook.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { createTestWorkspace, tokenFor } from "../support/worlds/workspace.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  world = made.world;
  for (const queue of ["provisioning", "loads"] as const) await made.cloud.take(queue); // the sweeps' of the test before
  contact = await mapped(world, { object: "Contact", fields: ["LastName"] });
});

const sweep = () => sweepMinute({ Records: [{ messageId: "tick", body: "{}" }] } as SQSEvent);
const insert = (rows: number) =>
  world.sql("INSERT INTO salesforce.contact (lastname) SELECT 'Contact' FROM generate_series(1, $1)", [rows]);

/** What a scrape shows of this workspace. */
async function queueDepth(): Promise<number | undefined> {
  const text = metricsText(await counters().readAll());
  const [, depth] = new RegExp(`queue_depth\\{workspace_id="${world.workspaceId}"\\} (\\d+)`).exec(text) ?? [];
  return depth === undefined ? undefined : Number(depth);
}

async function deactivate(): Promise<void> {
  const token = await tokenFor(world.workspaceId);
  const path = { workspace_id: world.workspaceId, mapping_id: contact.id };
  expect(await ask("deactivate-mapping", { token, path })).toMatchObject({ status: 200 });
}

test("rows in NEW are reported from minute to minute while no mapping of the workspace is active", async () => {
  await world.cycle(contact);
  await deactivate();
  await insert(50);
  await world.pass(90);

  expect(await sweep()).toEqual({ batchItemFailures: [] });
  expect(await queueDepth()).toBe(50);

  await world.sql("DELETE FROM salesforce._trigger_log WHERE id IN (SELECT id FROM salesforce._trigger_log LIMIT 20)");
  await world.sql(
    "UPDATE salesforce._trigger_log SET state = 'PENDING' WHERE id IN (SELECT id FROM salesforce._trigger_log LIMIT 5)",
  );
  await world.pass(90);
  await sweep();
  expect(await queueDepth()).toBe(25);
});

test("a database that hangs holds up neither the count of another nor the sweep", async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket.on("error", () => undefined)));
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as { port: number };
  for (let i = 0; i < 3; i++) {
    await createTestWorkspace({ postgres: { url: `postgres://a:b@127.0.0.1:${port}/c`, schema: "salesforce" } });
  }
  await insert(2);
  await world.pass(90);

  const swept = sweep();
  await vi.waitFor(async () => {
    expect(sockets).toHaveLength(3);
    expect(await queueDepth()).toBe(2);
  }, 300_000);

  for (const socket of sockets) socket.destroy();
  expect(await swept).toEqual({ batchItemFailures: [] });
  silent.close();
});

test("a report that comes late does not take the totals of a mapping back", async () => {
  const { id: mappingId, sfObject, workspaceId } = contact;
  const totals = { workspaceId, mappingId, sfObject, rowsSynced: 12, rowsFailed: 3, apiCalls: { REST: 5 } };
  const fewer = { ...totals, rowsSynced: 11, rowsFailed: 2 };
  await counters().set(totals, now(), []);
  await counters().set(fewer, now(), []);

  const kept = (await counters().readAll()).totals.filter((one) => one.mappingId === mappingId);

  expect(kept).toMatchObject([{ rowsSynced: 12, rowsFailed: 3 }]);
});

/** A series of one of this workspace's mappings, as it is scraped now. */
async function scraped(name: string, { id, sfObject }: Mapping = contact): Promise<number | undefined> {
  const labels = `workspace_id="${world.workspaceId}",mapping_id="${id}",object="${sfObject}"`;
  const text = await scraper(counters(), engineReports())(new Date(Date.now() + AHEAD)); // PostgreSQL has a clock of its own
  const [, value] = new RegExp(`^bridge_mapping_${name}\\{${labels}\\} (\\S+)$`, "m").exec(text) ?? [];
  return value === undefined ? undefined : Number(value);
}

const AHEAD = 60_000;

test("what each active mapping does is reported as of the last sweep", async () => {
  const account = await mapped(world, { object: "Account", fields: ["Name"] });
  await world.cycle(contact);
  await insert(1);
  await world.rest("POST", "/sobjects/Contact", { LastName: "Hopper" });
  await world.pass(10);
  await world.cycle(contact);
  await insert(2);
  await world.sql(
    `UPDATE salesforce._trigger_log SET processed_at = created_at + interval '4 s' WHERE state = 'SUCCESS';
     UPDATE salesforce._trigger_log SET due_at = now(), created_at = created_at - interval '2 h'
     WHERE id = (SELECT max(id) FROM salesforce._trigger_log);
     INSERT INTO salesforce._bridge_held_deletes (mapping_id, sfid, held_at, stamp, read_at, confirmed)
     SELECT '${contact.id}', is_confirmed, now(), now(), now(), is_confirmed FROM (VALUES (true), (false)) v (is_confirmed);
     INSERT INTO salesforce._bridge_conflicts (mapping_id, sfid, record_id, winner, at)
     SELECT '${contact.id}', '1', 1, 'postgres', '${now().toISOString()}'::timestamptz - interval '23 h' * n
     FROM generate_series(1, 2) n`,
  );

  await sweep();

  expect(await scraped("waiting_rows")).toBe(2);
  expect(await scraped("oldest_waiting_seconds"), "also where the oldest was put off").toBeGreaterThan(7_200);
  expect(await scraped("pulled_rows_10m")).toBeGreaterThanOrEqual(1);
  expect(await scraped("lag_p95_seconds")).toBe(4);
  expect(await scraped("last_cycle_timestamp_seconds")).toBe(now().getTime() / 1000);
  for (const name of ["conflicts_24h", "held_deletes"]) expect(await scraped(name)).toBe(1);
  for (const name of ["inbound_errors", "broken"]) expect(await scraped(name)).toBe(0);
  expect(await scraped("waiting_rows", account)).toBe(0);
  expect(await scraped("lag_p95_seconds", account)).toBeUndefined();

  // Where the database does not answer, a mapping keeps its last figures.
  await world.sql("ALTER TABLE salesforce._bridge_state RENAME COLUMN last_run_at TO hidden");
  await sweep();
  expect(await scraped("waiting_rows")).toBe(2);
  await world.sql("ALTER TABLE salesforce._bridge_state RENAME COLUMN hidden TO last_run_at");

  await deactivate();
  await sweep();
  expect(await scraped("waiting_rows")).toBeUndefined();
});

test("the last hour's deliveries of each webhook are counted by outcome", async () => {
  const { id: webhookId, workspaceId } = await makeWebhook("https://example.com/", world.workspaceId);
  const delivery = (status: Delivery["status"], minutesAgo: number): Delivery => {
    const createdAt = new Date(now().getTime() - minutesAgo * 60_000);
    const made = { id: newId("dlv"), eventId: newId("evt"), event: "record.failed", body: "{}" } as const;
    return { ...newDelivery({ ...made, workspaceId, webhookId, createdAt }), status, nextAttemptAt: null };
  };
  const lately = [delivery("pending", 1), delivery("failed", 20), delivery("failed", 30), delivery("successful", 59)];
  await deliveries().add([...lately, delivery("successful", 61), delivery("failed", 61)]);

  await sweep();

  const text = await scraper(counters(), engineReports())(now());
  const labels = `workspace_id="${workspaceId}",webhook_id="${webhookId}"`;
  expect(text.split("\n").filter((line) => line.includes("deliveries_1h") && line.includes(webhookId))).toEqual([
    `bridge_webhook_deliveries_1h{${labels},outcome="successful"} 1`,
    `bridge_webhook_deliveries_1h{${labels},outcome="failed"} 2`,
    `bridge_webhook_deliveries_1h{${labels},outcome="pending"} 1`,
  ]);
});
