import { Client } from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type RunningBridge, startRunningBridge } from "../support/worlds/running-bridge.ts";
import type { TestWorkspace } from "../support/worlds/workspace.ts";

vi.setConfig({ testTimeout: 1_200_000, hookTimeout: 1_200_000 });

const MAPPINGS = 100;
const MOST = 10;
const SOON = { timeout: 900_000, interval: 200 };

let bridge: RunningBridge;
let workspace: TestWorkspace;
let application: Client;
beforeAll(async () => {
  bridge = await startRunningBridge({ things: MAPPINGS, isolate: true });
  workspace = await bridge.createWorkspace();
  application = new Client({ connectionString: bridge.database.url });
  await application.connect();
});
afterAll(async () => {
  await application.end();
  await bridge.close();
});

/** Sessions that have stayed: who finds the workspace's connections in use asks for nothing but their number. */
const connections = () =>
  countOf(`SELECT count(*)::int AS many FROM pg_stat_activity WHERE datname = current_database()
    AND application_name LIKE 'bridge%' AND query <> '' AND query NOT LIKE '%''bridge connections ''%'`);

/** Counts again and again until it is ended, and gives the most that it saw. */
function watchConnections() {
  let most = 0;
  let watching = true;
  const watched = (async () => {
    while (watching) most = Math.max(most, await connections());
    return most;
  })();
  const end = async () => {
    watching = false;
    return await watched;
  };
  return { end, [Symbol.asyncDispose]: async () => void (await end()) };
}

async function countOf(query: string): Promise<number> {
  const { rows } = await application.query<{ many: number }>(query);
  return rows[0]?.many ?? 0;
}

test("a hundred mappings have ten connections at most, from their import to their beats", async () => {
  await using watch = watchConnections();
  const mappings = Array.from({ length: MAPPINGS }, (_, at) => ({
    object_name: `Thing${at + 1}__c`,
    config: { fields: { Name: {} } },
  }));
  const path = `/api/v1/t/${workspace.id}/config/import`;
  const answer = await bridge.request("POST", path, { token: workspace.token, body: { version: 1, mappings } });
  expect(answer.status, answer.text).toBe(200);

  const ran =
    "SELECT count(*)::int AS many FROM salesforce._bridge_state WHERE last_pull_at IS NOT NULL AND slot IS NOT NULL";
  await vi.waitFor(async () => expect(await countOf(ran)).toBe(MAPPINGS), SOON);
  await application.query(
    Array.from({ length: MAPPINGS }, (_, at) => `INSERT INTO salesforce.thing${at + 1}__c (name) VALUES ('here')`).join(
      ";",
    ),
  );
  const sent =
    "SELECT count(*)::int AS many FROM salesforce._trigger_log WHERE state = 'SUCCESS' AND action = 'INSERT'";
  await vi.waitFor(async () => expect(await countOf(sent)).toBe(MAPPINGS), SOON);

  const most = await watch.end();
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(MOST);
});
