import { afterAll, beforeAll, expect, test } from "vitest";
import { describeApi } from "../../../lib/infra/describe-api/document.ts";
import { readEndpoints } from "../../../lib/infra/describe-api/read-endpoints.ts";
import type { Definition } from "../../../lib/local/org/metadata/definition.ts";
import { type BridgeCloud, startBridgeCloud } from "../../support/worlds/bridge-cloud.ts";
import { createSyncWorld, type SyncWorld } from "../../support/worlds/sync-world.ts";
import { mapped } from "../../support/worlds/worlds.ts";

const INVOICE: NonNullable<Definition["objects"]>[number] = {
  name: "Invoice__c",
  label: "Invoice",
  labelPlural: "Invoices",
  fields: [
    { name: "Account__c", type: "lookup", to: "Account" },
    { name: "Title__c", type: "formula", formula: 'UPPER(Account__r.Name) & "!"', returns: "string" },
  ],
};

let cloud: BridgeCloud;
let world: SyncWorld;
beforeAll(async () => {
  cloud = await startBridgeCloud();
  world = await createSyncWorld(cloud, { definition: { objects: [INVOICE] } });
});
afterAll(async () => {
  await world.close();
  await cloud.close();
});

test("a formula that another record changes has no own change to pull, and arrives with the daily sweep", async () => {
  const account = (await world.rest("POST", "/sobjects/Account", { Name: "Acme" })) as { id: string };
  await world.rest("POST", "/sobjects/Invoice__c", { Account__c: account.id });
  const invoice = await mapped(world, { object: "Invoice__c", fields: ["Account__c", "Title__c"] });
  const titles = async () =>
    (await world.sql("SELECT title__c FROM salesforce.invoice__c")).map((row) => row["title__c"]);
  expect(await titles()).toEqual(["ACME!"]);
  // Records are read again for some minutes after they were saved.
  await world.pass(3600);
  await world.cycle(invoice, "pull");
  await world.rest("PATCH", `/sobjects/Account/${account.id}`, { Name: "Umbrella" });

  await world.pass(600);
  await world.cycle(invoice, "pull");
  expect(await titles()).toEqual(["ACME!"]);
  await world.work(invoice, "sweep");

  expect(await titles()).toEqual(["UMBRELLA!"]);
  expect(await world.sql("SELECT FROM salesforce._trigger_log"), "nothing of it goes back").toEqual([]);
});

test("the API says so where it describes an object's fields", async () => {
  const { paths } = describeApi(await readEndpoints());

  expect(paths["/api/v1/t/{workspace_id}/objects/{object_name}"]?.["get"]?.summary).toContain(
    "formula or roll-up reaches its row with the record's next own change or the daily sweep",
  );
});
