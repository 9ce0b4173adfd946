import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/bridge-cloud.ts";
import { createSyncWorld, type SyncWorld } from "../support/sync-world.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
beforeAll(async () => {
  cloud = await startBridgeCloud();
});
afterAll(() => cloud.close());
beforeEach(async () => {
  world = await createSyncWorld(cloud);
  const fields = ["External_Id__c", "LastName"];
  const [mapping] = await world.map({ object: "Contact", fields, upsertField: "External_Id__c" });
  if (!mapping) throw new Error("the mapping was not made");
  contact = mapping;
});
afterEach(() => world.close());

/** Others use up so many of the org's hundred calls; the steps are those of the model's table. */
async function othersUse(used: number, step: number): Promise<void> {
  await world.pass(1);
  const usage = { used, limit: 100, at: new Date(cloud.clock.now()) };
  await world.services.engine.saveBudget(world.workspaceId, { usage, step });
}
const states = async () =>
  (await world.sql("SELECT state FROM salesforce._trigger_log ORDER BY id")).map((row) => row["state"]);
const insert = (key: string) =>
  world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Curie', $1)", [key]);

test("from 85 % of the org's calls rows still go out, and nothing is pulled", async () => {
  await world.rest("POST", "/sobjects/Contact", { LastName: "New there" });
  await insert("K-1");
  await othersUse(86, 4);

  await world.cycle(contact, "beat");

  expect(await states()).toEqual(["SUCCESS"]);
  expect(await world.sql("SELECT FROM salesforce.contact WHERE lastname = 'New there'")).toEqual([]);
});

test("from 95 % everything waits, doubts as well, but for whoever polls by hand", async () => {
  await insert("K-1");
  await world.fault({ kind: "saveThenDrop", path: "services/Soap" });
  await world.cycle(contact);
  await insert("K-2");
  await othersUse(96, 5);
  const before = await world.requests();

  await world.cycle(contact, "beat");

  expect([await states(), (await world.requests()) - before]).toEqual([["PENDING", "NEW"], 0]);
  await world.cycle(contact, "poll");
  expect(await states()).toEqual(["SUCCESS", "SUCCESS"]);
});
