import { expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping.ts";
import type { BridgeCloud } from "../support/bridge-cloud.ts";
import type { SyncWorld } from "../support/sync-world.ts";
import { aWorldForEachTest, mapped } from "../support/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  ({ cloud, world } = made);
  const fields = ["External_Id__c", "LastName"];
  contact = await mapped(world, { object: "Contact", fields, upsertField: "External_Id__c" });
});

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
