import { afterAll, beforeAll, expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/bridge-cloud.ts";
import { createSyncWorld, type SyncWorld } from "../support/sync-world.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
beforeAll(async () => {
  cloud = await startBridgeCloud();
  world = await createSyncWorld(cloud);
  await world.createRecords("Contact", [
    { LastName: "Inside", Department: "R&D" },
    { LastName: "Outside", Department: "Sales" },
  ]);
  const [mapping] = await world.map({
    object: "Contact",
    fields: ["Department", "LastName"],
    bridge: { filter: "Department = 'R&D' OR Department = 'IT'" },
  });
  if (!mapping) throw new Error("the mapping was not made");
  contact = mapping;
});
afterAll(async () => {
  await world.close();
  await cloud.close();
});

const names = async () =>
  (await world.sql("SELECT lastname FROM salesforce.contact ORDER BY lastname")).map(({ lastname }) => lastname);
const move = async (lastName: string, department: string) => {
  const [found] = await world.soql(`SELECT Id FROM Contact WHERE LastName = '${lastName}'`);
  await world.rest("PATCH", `/sobjects/Contact/${found?.["Id"]}`, { Department: department });
};

test("only what the filter holds for is loaded", async () => {
  expect(await names()).toEqual(["Inside"]);
});

test("a record that comes into the filter arrives, one that leaves it goes, and nothing is deleted in Salesforce", async () => {
  await move("Outside", "IT");
  await move("Inside", "Sales");

  await world.cycle(contact);

  expect(await names()).toEqual(["Outside"]);
  expect(await world.soql("SELECT count(Id) n FROM Contact")).toEqual([{ n: 2 }]);
  expect(await world.sql("SELECT FROM salesforce._trigger_log")).toEqual([]);
});

test("a record that comes back into the filter comes back into the table", async () => {
  await world.pass(5);
  await move("Inside", "R&D");

  await world.cycle(contact);

  expect(await names()).toEqual(["Inside", "Outside"]);
});
