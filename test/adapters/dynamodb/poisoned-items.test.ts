import { PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { database } from "../../../functions/services/composition.ts";
import { ATTRIBUTES } from "../../support/doubles/poisons.ts";
import { type PoisonedWorld, startPoisonedWorld } from "../../support/worlds/poisoned-world.ts";

type Item = Readonly<Record<string, unknown>>;

let poisoned: PoisonedWorld;
beforeAll(async () => {
  poisoned = await startPoisonedWorld();
}, 300_000);
afterAll(() => poisoned.close());

const table = () => database().table("counters");
const put = (Item: Item) => database().client.send(new PutCommand({ TableName: table(), Item }));

/** To add to a count that is none is an error of the one request that made a call. */
const isOfCalls = (item: Item) => item["sk"] === "calls";

// `npm run attack` poisons every attribute, and the items of engines.
test("whatever an attribute of a workspace's figures is, no other workspace meets it", {
  timeout: 300_000,
}, async () => {
  const said = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const { Items = [] } = await database().client.send(new ScanCommand({ TableName: table() }));
  const own = Items.filter((item) => JSON.stringify(item).includes(poisoned.world.workspaceId));
  const findings: string[] = [];
  let tried = 0;
  for (const together of [own.filter((item) => !isOfCalls(item)), own.filter(isOfCalls)]) {
    for (const value of ATTRIBUTES) {
      for (const item of together) {
        const [name = ""] = Object.keys(item)
          .toSorted()
          .filter((one) => one !== "pk" && one !== "sk");
        await put({ ...item, [name]: value });
        tried += 1;
      }
      const asksOwn = value === ATTRIBUTES[0] && !together.some(isOfCalls);
      const wrong = [...(await poisoned.neighbours()), ...(asksOwn ? await poisoned.own() : [])];
      findings.push(...wrong.map((one) => `${JSON.stringify(value).slice(0, 60)}: ${one}`));
    }
    for (const item of together) await put(item);
  }
  said.mockRestore();
  expect(findings).toEqual([]);
  expect(tried).toBeGreaterThan(10);
});
