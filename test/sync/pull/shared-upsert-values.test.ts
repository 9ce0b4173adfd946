import { expect, test } from "vitest";
import { queue, workspaces } from "../../../functions/services/composition.ts";
import { provisioningServices } from "../../../functions/services/provisioning-services.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import type { ProvisioningMessage } from "../../../lib/model/messages.ts";
import { readStates } from "../../../lib/settings/mapping-states.ts";
import { provisionMapping } from "../../../lib/sync/schema/provision-mapping.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import type { BridgeCloud } from "../../support/worlds/bridge-cloud.ts";
import type { Row, SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped, stateNeeds } from "../../support/worlds/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
const log: Row[] = [];
aWorldForEachTest(
  (made) => {
    ({ cloud, world } = made);
    log.length = 0;
  },
  {
    definition: {
      objects: [{ name: "Contact", fields: [{ name: "Code__c", type: "text", length: 20, externalId: true }] }],
    },
  },
);

const mapContact = () => mapped(world, { object: "Contact", fields: ["Code__c", "LastName"], upsertField: "Code__c" });
const rows = () =>
  world.sql("SELECT lastname, code__c, sfid IS NOT NULL AS met FROM salesforce.contact ORDER BY lastname, id");
const errors = () => world.sql("SELECT sfid, error FROM salesforce._bridge_inbound_errors");
const indexes = async () =>
  (await world.sql("SELECT indexdef FROM pg_indexes WHERE tablename = 'contact' AND indexdef LIKE '%code__c%'")).map(
    ({ indexdef }) => String(indexdef).replace(/ON .*/, "").trim(),
  );

test("records that share a value of an upsert field that Salesforce does not keep unique have a row each", async () => {
  await world.createRecords("Contact", [
    { LastName: "Curie", Code__c: "K-1" },
    { LastName: "Hopper", Code__c: "K-1" },
  ]);
  const contact = await mapContact();
  await world.createRecords("Contact", [{ LastName: "Noether", Code__c: "K-1" }]);
  await world.cycle(contact);

  expect((await rows()).map(({ lastname }) => lastname)).toEqual(["Curie", "Hopper", "Noether"]);
  expect(await errors()).toEqual([]);
  expect(await indexes()).toEqual(["CREATE INDEX contact_code__c_idx"]);
  const workspace = await workspaces().find(world.workspaceId);
  if (!workspace) throw new Error("the test's workspace is gone");
  expect(await readStates(stateNeeds(), workspace, false, new Date(cloud.clock.now()))).toMatchObject([
    { notices: [{ message: expect.stringContaining("does not keep the upsert field Code__c unique") }] },
  ]);
});

test("a row meets the one record of its value; where several have it, or several rows do, none is mistaken for another", async () => {
  const contact = await mapContact();
  await world.sql(`ALTER TABLE salesforce.contact DISABLE TRIGGER USER;
    INSERT INTO salesforce.contact (lastname, code__c) VALUES ('One', 'K-1'), ('Two', 'K-2'), ('Two', 'K-2'), ('Three', 'K-3');
    ALTER TABLE salesforce.contact ENABLE TRIGGER USER`);
  await world.createRecords(
    "Contact",
    ["K-1", "K-2", "K-3", "K-3"].map((Code__c, n) => ({ LastName: `R${n}`, Code__c })),
  );

  await world.cycle(contact);

  expect(await rows()).toEqual([
    { lastname: "R0", code__c: "K-1", met: true },
    { lastname: "R1", code__c: "K-2", met: true },
    { lastname: "R2", code__c: "K-3", met: true },
    { lastname: "R3", code__c: "K-3", met: true },
    { lastname: "Three", code__c: "K-3", met: false },
    { lastname: "Two", code__c: "K-2", met: false },
    { lastname: "Two", code__c: "K-2", met: false },
  ]);
  expect(await errors()).toEqual([]);
});

longTest("an insert with a value that two records have fails and says so, and changes neither", async () => {
  await world.createRecords("Contact", [
    { LastName: "Curie", Code__c: "K-1" },
    { LastName: "Hopper", Code__c: "K-1" },
  ]);
  const contact = await mapContact();

  await world.sql("INSERT INTO salesforce.contact (lastname, code__c) VALUES ('Noether', 'K-1'), ('Franklin', 'K-2')");
  await world.cycle(contact);

  expect(await world.sql("SELECT state, sf_message FROM salesforce._trigger_log ORDER BY id")).toEqual([
    { state: "FAILED", sf_message: expect.stringContaining("more than one record") },
    { state: "SUCCESS", sf_message: null },
  ]);
  expect((await world.soql("SELECT LastName FROM Contact ORDER BY LastName")).map(({ LastName }) => LastName)).toEqual([
    "Curie",
    "Franklin",
    "Hopper",
  ]);
});

longTest(
  "a table from before has its unique index replaced by the daily check, which shows what to do about the field",
  async () => {
    const contact: Mapping = await mapContact();
    await world.sql(`DROP INDEX salesforce.contact_code__c_idx;
    CREATE UNIQUE INDEX contact_code__c_key ON salesforce.contact (code__c);
    UPDATE salesforce._bridge_state SET shape = shape - 'repeatsUpsertValues'`);
    await world.createRecords("Contact", [
      { LastName: "Curie", Code__c: "K-1" },
      { LastName: "Hopper", Code__c: "K-1" },
    ]);
    await world.cycle(contact);
    const before = (await errors()).length;
    const message = { workspace_id: world.workspaceId, mapping_id: contact.id, import_id: null, describe: true };
    await queue("provisioning").send([{ message }]);
    // The check, and the new version that it asks for.
    for (let turn = 0; turn < 2; turn += 1) {
      const services = { ...provisioningServices(cloud.clock.now() + 300_000), log: (line: Row) => log.push(line) };
      for (const one of (await cloud.take("provisioning")) as ProvisioningMessage[])
        await provisionMapping(services, one);
    }
    await world.pass(3600);
    for (const mapping of await world.mappings()) await world.work(mapping, "sweep");

    expect(before).toBe(1);
    expect(await indexes()).toEqual(["CREATE INDEX contact_code__c_idx"]);
    expect((await rows()).map(({ lastname }) => lastname)).toEqual(["Curie", "Hopper"]);
    expect(await errors()).toEqual([]);
    expect(log).toContainEqual(
      expect.objectContaining({
        level: "warn",
        message: expect.stringContaining("does not keep the upsert field Code__c"),
      }),
    );
  },
);
