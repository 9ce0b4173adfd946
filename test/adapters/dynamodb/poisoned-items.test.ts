import { PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { database } from "../../../functions/services/composition.ts";
import { TABLES, type TableName } from "../../../lib/model/resources.ts";
import { ATTRIBUTES } from "../../support/doubles/poisons.ts";
import { firstInGate, isWholeGrid } from "../../support/run/whole-grid.ts";
import { type PoisonedWorld, startPoisonedWorld } from "../../support/worlds/poisoned-world.ts";

/** Tables whose items hold what a tenant's database or org says; those of all others hold what the API has judged. */
const DERIVED = ["counters", "engine", "events", "deliveries", "attempts"] as const;
const JUDGED = ["workspaces", "tokens", "mappings", "webhooks", "audit", "baselines", "rateLimits"];

type Item = Readonly<Record<string, unknown>>;

let poisoned: PoisonedWorld;
beforeAll(async () => {
  poisoned = await startPoisonedWorld();
}, 300_000);
afterAll(() => poisoned.close());

const put = (table: TableName, Item: Item) =>
  database().client.send(new PutCommand({ TableName: database().table(table), Item }));

async function itemsOf(table: TableName): Promise<readonly Item[]> {
  const { Items = [] } = await database().client.send(new ScanCommand({ TableName: database().table(table) }));
  const { workspaceId } = poisoned.world;
  return Items.filter((item) => JSON.stringify(item).includes(workspaceId) || table === "attempts");
}

test("every table is walked through, or holds nothing of a tenant's database", () => {
  expect([...DERIVED, ...JUDGED].toSorted()).toEqual(Object.keys(TABLES).toSorted());
});

test.each(DERIVED)(
  "whatever an attribute of an item of %s is, no other workspace meets it",
  { timeout: 3_000_000 },
  async (table) => {
    const said = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const findings: string[] = [];
    let tried = 0;
    for (const item of await itemsOf(table)) {
      const names = Object.keys(item).filter((one) => one !== "pk" && one !== "sk");
      for (const name of firstInGate(1, names)) {
        for (const value of ATTRIBUTES) {
          const isKey = ["webhook_id", "listed_at", "due_shard", "due_at"].includes(name);
          if (isKey && (typeof value !== "string" || value === "" || value.length > 1000)) continue;
          await put(table, { ...item, [name]: value });
          tried += 1;
          const of = `${item["sk"] ?? table} ${name} = ${JSON.stringify(value).slice(0, 60)}`;
          findings.push(...(await poisoned.neighbours()).map((wrong) => `${of}: ${wrong}`));
          // To add to a count that is none is an error of the one request that made a call.
          const asksOwn = (isWholeGrid || value === ATTRIBUTES[0]) && item["sk"] !== "calls";
          const own = asksOwn ? await poisoned.own() : [];
          findings.push(...own.map((wrong) => `own ${of}: ${wrong}`));
        }
      }
      await put(table, item);
    }
    said.mockRestore();
    expect(findings).toEqual([]);
    expect(tried).toBeGreaterThan(table === "attempts" ? -1 : 10);
  },
);
