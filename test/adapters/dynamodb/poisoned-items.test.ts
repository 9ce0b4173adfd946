import { PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { database } from "../../../functions/services/composition.ts";
import { TABLES, type TableName } from "../../../lib/model/resources.ts";
import { ATTRIBUTES } from "../../support/doubles/poisons.ts";
import { firstInGate } from "../../support/run/whole-grid.ts";
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

/** To add to a count that is none is an error of the one request that made a call. */
const isOfCalls = (item: Item) => item["sk"] === "calls";

const KEYS = ["webhook_id", "listed_at", "due_shard", "due_at"];
const isTaken = (name: string, value: unknown) =>
  !KEYS.includes(name) || (typeof value === "string" && value !== "" && value.length <= 1000);

interface Poisoned {
  readonly item: Item;
  readonly name: string;
}

/** One attribute of every item, all at the same time; no keys, where the item has others. */
function poisonedTogether(items: readonly Item[]): readonly (readonly Poisoned[])[] {
  const each = items.flatMap((item): Poisoned[] => {
    const names = Object.keys(item).filter((one) => one !== "pk" && one !== "sk");
    const [name] = names.toSorted((a, b) => Number(KEYS.includes(a)) - Number(KEYS.includes(b)) || (a < b ? -1 : 1));
    return name === undefined ? [] : [{ item, name }];
  });
  return [each.filter(({ item }) => !isOfCalls(item)), each.filter(({ item }) => isOfCalls(item))];
}

test("every table is walked through, or holds nothing of a tenant's database", () => {
  expect([...DERIVED, ...JUDGED].toSorted()).toEqual(Object.keys(TABLES).toSorted());
});

test.each(firstInGate(1, DERIVED))(
  "whatever an attribute of an item of %s is, no other workspace meets it",
  { timeout: 3_000_000 },
  async (table) => {
    const said = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const findings: string[] = [];
    let tried = 0;
    for (const together of poisonedTogether(await itemsOf(table))) {
      for (const value of ATTRIBUTES) {
        const poisons = together.filter(({ name }) => isTaken(name, value));
        for (const { item, name } of poisons) await put(table, { ...item, [name]: value });
        tried += poisons.length;
        if (poisons.length === 0) continue;
        const names = poisons.map(({ item, name }) => `${item["sk"] ?? table} ${name}`).join(", ");
        const of = `${names} = ${JSON.stringify(value).slice(0, 60)}`;
        findings.push(...(await poisoned.neighbours()).map((wrong) => `${of}: ${wrong}`));
        const asksOwn = value === ATTRIBUTES[0] && !together.some(({ item }) => isOfCalls(item));
        const own = asksOwn ? await poisoned.own() : [];
        findings.push(...own.map((wrong) => `own ${of}: ${wrong}`));
      }
      for (const { item } of together) await put(table, item);
    }
    said.mockRestore();
    expect(findings).toEqual([]);
    expect(tried).toBeGreaterThan(table === "attempts" ? -1 : 10);
  },
);
