import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { gatherFigures } from "../../functions/emit-figures.ts";
import type { Figures } from "../../lib/sync/figures.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/bridge-cloud.ts";
import { createSyncWorld, type SyncWorld } from "../support/sync-world.ts";
import { mapped } from "../support/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
beforeAll(async () => {
  cloud = await startBridgeCloud();
});
beforeEach(async () => {
  world = await createSyncWorld(cloud, { dailyApiRequests: 1000 });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await world.close();
});
afterAll(() => cloud.close());

test("a cycle tells what Salesforce took and refused, how long the oldest row waits, and the org's use of its calls", async () => {
  const contact = await mapped(world, { object: "Contact", fields: ["LastName", "Email"] });
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Taken'), (NULL)");
  await world.sql(
    `INSERT INTO salesforce._trigger_log (action, table_name, record_id, created_at, due_at, "values")
     VALUES ('UPDATE', 'contact', 999, clock_timestamp() - interval '20 minutes', $1, '{}')`,
    [new Date(cloud.clock.now() + 3_600_000)],
  );

  await world.cycle(contact);

  const [figures] = world.figures.slice(-1);
  expect(figures).toMatchObject({ accepted: 1, refused: 1 });
  expect(figures?.oldestWaitingSeconds).toBeGreaterThanOrEqual(1200);
  expect(figures?.oldestWaitingSeconds).toBeLessThan(1300);
  expect(figures?.budgetShare).toBeGreaterThan(0);
  expect(figures?.budgetShare).toBeLessThan(0.1);
});

test("deletes that the breaker holds are not rows that wait for Salesforce", async () => {
  const contact = await mapped(world, { object: "Contact", fields: ["LastName"] });
  await world.sql(
    `INSERT INTO salesforce._trigger_log (action, table_name, record_id, created_at, held, "values")
     VALUES ('DELETE', 'contact', 1, clock_timestamp() - interval '20 minutes', true, '{}')`,
  );

  await world.cycle(contact);

  expect(world.figures.at(-1)?.oldestWaitingSeconds).toBe(0);
});

const QUIET: Figures = { accepted: 0, refused: 0, oldestWaitingSeconds: 5, budgetShare: 0.3 };

test("the cycles of one invocation are one line of CloudWatch's embedded metrics, of the stage and of no mapping", () => {
  vi.stubEnv("METRICS_NAMESPACE", "Bridge");
  vi.stubEnv("STAGE", "prod");

  const [line, ...others] = linesFor(
    { accepted: 3, refused: 0, oldestWaitingSeconds: 12.4, budgetShare: null },
    { accepted: 1, refused: 2, oldestWaitingSeconds: 905.2, budgetShare: 0.8765 },
    { ...QUIET, oldestWaitingSeconds: null },
  );

  expect(others).toEqual([]);
  expect(JSON.parse(line ?? "")).toEqual({
    _aws: {
      Timestamp: expect.any(Number),
      CloudWatchMetrics: [
        {
          Namespace: "Bridge",
          Dimensions: [["Stage"]],
          Metrics: [
            { Name: "RowsAccepted", Unit: "Count" },
            { Name: "RowsFailed", Unit: "Count" },
            { Name: "OldestWaitingSeconds", Unit: "Seconds" },
            { Name: "OrgBudgetUsed", Unit: "Percent" },
          ],
        },
      ],
    },
    Stage: "prod",
    RowsAccepted: 4,
    RowsFailed: 2,
    OldestWaitingSeconds: 905,
    OrgBudgetUsed: 87.7,
  });
  expect(line).toMatch(/^[^\n]+\n$/);
});

test("idle cycles cost no line, and neither does one on this machine", () => {
  vi.stubEnv("METRICS_NAMESPACE", "Bridge");
  expect(linesFor(QUIET, QUIET)).toEqual([]);

  vi.stubEnv("METRICS_NAMESPACE", "");
  expect(linesFor({ ...QUIET, refused: 5 })).toEqual([]);
});

function linesFor(...figures: readonly Figures[]): readonly string[] {
  const lines: string[] = [];
  const gathered = gatherFigures((line) => lines.push(line));
  for (const one of figures) gathered.add(one);
  gathered.tell();
  return lines;
}
