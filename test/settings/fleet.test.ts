import pLimit from "p-limit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { counters, database, engineReports, mappings, workspaces } from "../../functions/services/composition.ts";
import { engineMemory } from "../../lib/adapters/dynamodb/engine/engine.ts";
import { HEALTHY } from "../../lib/model/engine.ts";
import { readFleet } from "../../lib/settings/workspaces/fleet.ts";
import { plannedBudget } from "../support/doubles/planned-budget.ts";
import { isWholeGrid } from "../support/run/whole-grid.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { createTestWorkspace } from "../support/worlds/workspace.ts";

/** Whatever their number is, the readings are the same. */
const MANY = isWholeGrid ? 200 : 20;
const ids: string[] = [];

let cloud: BridgeCloud;
beforeAll(async () => {
  cloud = await startBridgeCloud();
  const memory = engineMemory(database());
  const at = new Date(cloud.clock.now());
  await pLimit(8).map(Array(MANY).fill(null), async () => {
    const { id } = await createTestWorkspace();
    ids.push(id);
    await counters().setQueueDepth({ workspaceId: id, rows: 3, oldestAt: new Date(at.getTime() - 60_000) }, at);
    await memory.saveBudget(id, async () => plannedBudget({ used: 40, limit: 15_000, at }));
  });
  const broken = { ...HEALTHY, failedCycles: 3, brokenSince: at, lastFailure: null };
  await memory.save(ids[0] ?? "", "map_inactive", { state: HEALTHY, version: 0 }, broken, []);
}, 120_000);
afterAll(() => cloud.close());

test("the fleet is read in three tables, and of a workspace with a broken mapping its mappings, whatever their number is", async () => {
  const commands: string[] = [];
  database().client.middlewareStack.add(
    (next, context) => (args) => {
      commands.push(String(context.commandName));
      return next(args);
    },
    { step: "initialize" },
  );

  const kept = { workspaces: workspaces(), counters: counters(), engine: engineReports(), mappings: mappings() };
  const fleet = await readFleet(kept);

  const at = new Date(cloud.clock.now());
  expect(fleet.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  expect(fleet.find(({ id }) => id === ids[0])).toMatchObject({
    ...{ connected: false, pause: null, waiting: 3, counted_at: at.toISOString(), calls_used: 40, calls_limit: 15_000 },
    oldest_waiting_at: new Date(at.getTime() - 60_000).toISOString(),
    broken: [], // the figures of a mapping outlive its deactivation
  });
  expect(commands.filter((name) => name === "ScanCommand")).toHaveLength(3);
  expect(commands.length).toBeLessThanOrEqual(8);
  expect((await workspaces().list()).length).toBe(MANY);
});
