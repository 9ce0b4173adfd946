import { expect, test } from "vitest";
import { herokuConnectSchemas, workspaces } from "../../functions/services/composition.ts";
import { firstInGate, longTest } from "../support/run/whole-grid.ts";
import { AS_HEROKU_CONNECT, AS_THE_APPLICATION, herokuConnectSchema } from "../support/worlds/heroku-connect.ts";
import { eachInAWorld, world } from "./world.ts";

eachInAWorld(undefined, { isBefore: true });

const CONTACT = {
  table: "contact",
  columns: { email: "varchar(80)", external_id__c: "varchar(64)", lastname: "varchar(80)", createddate: "timestamp" },
};

/** An org with some contacts, and a database into which Heroku Connect has read them, its zone not UTC. */
async function theirDatabase(keyed: boolean): Promise<void> {
  for (const name of ["Ada", "Emmy", "Grace", "Marie"]) await world.create(name, { External_Id__c: `K-${name}` });
  await world.pass(3600);
  await world.patch("Ada", { LastName: "Ada" });
  await world.sql("SET timezone = 'America/New_York'");
  await world.sql(herokuConnectSchema([{ ...CONTACT, ...(keyed && { upsertColumn: "external_id__c" }) }]));
  await world.sql(AS_HEROKU_CONNECT);
  for (const record of await world.soql(
    "SELECT Id, LastName, External_Id__c, SystemModstamp, CreatedDate FROM Contact",
  ))
    await world.sql(
      `INSERT INTO salesforce.contact (sfid, lastname, external_id__c, systemmodstamp, createddate, isdeleted)
       VALUES ($1, $2, $3, $4::timestamptz AT TIME ZONE 'UTC', $5::timestamptz AT TIME ZONE 'UTC', false)`,
      Object.values(record),
    );
  await world.sql(AS_THE_APPLICATION);
}

async function adopt(keyed: boolean): Promise<void> {
  const { postgres } = (await (await workspaces().find(world.workspaceId))?.open()) ?? {};
  if (!postgres) throw new Error("the test's workspace is not connected");
  await herokuConnectSchemas.adopt(postgres, world.workspaceId);
  const fields = ["Id", "SystemModstamp", "IsDeleted", "CreatedDate", "Email", "External_Id__c", "LastName"];
  await world.mapContact(fields, keyed ? { upsertField: "External_Id__c" } : {});
}

/** The application's inserts, of these names. */
async function insert(...names: readonly string[]): Promise<void> {
  for (const name of names)
    await world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ($1, $2)", [name, `K-${name}`]);
}
/** Of what was captured, these changes were under way when Heroku Connect was paused. */
const pending = (which = "true") =>
  world.sql(`UPDATE salesforce._trigger_log SET state = 'PENDING', created_at = $1 WHERE ${which}`, [
    new Date(world.cloud.clock.now()).toISOString(),
  ]);
/** Changes with every write of the row. */
const versionOf = (name: string) =>
  world.sql("SELECT xmin::text, ctid::text FROM salesforce.contact WHERE lastname = $1", [name]);
const requests = async () =>
  (await world.requested()).filter(({ api }) => api !== "OAUTH").map(({ request }) => request);

test("a table is adopted without a reload: what changed meanwhile comes, what waited goes once, and no record is read again", async () => {
  await theirDatabase(true);
  await world.pass(3600);
  await world.patch("Ada", { LastName: "Ada changed there" });
  await world.remove("Emmy");
  await world.create("New there", { External_Id__c: "K-there" });
  await world.sql("UPDATE salesforce.contact SET email = 'grace@example.com' WHERE lastname = 'Grace'");
  await insert("New here");
  const before = (await requests()).length;
  const untouched = await versionOf("Marie");

  await adopt(true);
  const adoption = (await requests()).slice(before);
  await world.cycles(2);

  // The import looks at the object, provisioning describes it, and one call looks up all rows' ids.
  expect(adoption).toEqual([
    "GET /services/data/v66.0/sobjects",
    "GET /services/data/v66.0/sobjects/Contact/describe",
    "GET /services/data/v66.0/sobjects/Contact/describe",
    "POST /services/data/v66.0/composite",
  ]);
  expect(await versionOf("Marie")).toEqual(untouched);
  expect(await world.names()).toEqual(["Ada changed there", "Grace", "Marie", "New here", "New there"]);
  expect(await world.namesThere()).toEqual(await world.names());
  expect(await world.changes()).toEqual([
    { action: "UPDATE", state: "SUCCESS" },
    { action: "INSERT", state: "SUCCESS" },
  ]);
  expect(await world.sql("SELECT * FROM salesforce.contact WHERE lastname = 'Grace'")).toMatchObject([
    { _hc_lastop: "UPDATED", _ab_lastop: "UPDATED", _hc_err: null },
  ]);
});

longTest(
  "of inserts that Heroku Connect had under way one that has arrived is attached to its record, by any user, and another is sent",
  async () => {
    await theirDatabase(false);
    await insert("Arrived", "Not arrived");
    await pending();
    await world.create("Arrived", { External_Id__c: "K-Arrived" });
    await world.pass(600);

    await adopt(false);
    await world.cycles();
    const atFirst = (await world.bothSides()).rows.filter(({ Id }) => Id === null);
    await world.untilKnown();

    expect(atFirst).toMatchObject([{ LastName: "Arrived" }, { LastName: "Not arrived" }]);
    const { rows, records } = await world.bothSides();
    expect(rows).toEqual(records);
    expect(rows.map(({ LastName }) => LastName)).toEqual(["Ada", "Arrived", "Emmy", "Grace", "Marie", "Not arrived"]);
    expect(await world.states()).toEqual(["SUCCESS", "SUCCESS"]);
  },
);

test("upserts, updates and deletes that Heroku Connect had under way end as if each had been sent once", async () => {
  await theirDatabase(true);
  await insert("New");
  await world.sql("UPDATE salesforce.contact SET email = 'there@example.com' WHERE lastname = 'Grace'");
  await world.sql("UPDATE salesforce.contact SET email = 'lost@example.com' WHERE lastname = 'Marie'");
  await world.sql("DELETE FROM salesforce.contact WHERE lastname = 'Emmy'");
  await world.sql("UPDATE salesforce._trigger_log SET state = 'PENDING'");
  await world.create("New", { External_Id__c: "K-New" });
  await world.patch("Grace", { Email: "there@example.com" });
  await world.remove("Emmy");

  await adopt(true);
  await world.cycles();
  await world.untilKnown();

  const { rows, records } = await world.bothSides();
  expect(records.map(({ LastName, Email }) => [LastName, Email])).toEqual([
    ["Ada", null],
    ["Grace", "there@example.com"],
    ["Marie", "lost@example.com"],
    ["New", null],
  ]);
  expect(rows).toEqual(records);
  expect(new Set(await world.states())).toEqual(new Set(["SUCCESS"]));
});

test.each(
  firstInGate(1, [
    { keyed: false, without: "without an upsert field" },
    { keyed: true, without: "with one" },
  ]),
)(
  "nothing comes back from the dead, $without: a row inserted and deleted under Heroku Connect ends without a record",
  async ({ keyed }) => {
    await theirDatabase(keyed);
    await insert("Came and went", "Was sent", "Was not sent");
    await pending("id > 1");
    await world.sql("DELETE FROM salesforce.contact WHERE sfid IS NULL");
    await world.create("Was sent", { External_Id__c: "K-Was sent" });
    await world.pass(600);

    await adopt(keyed);
    await world.cycles();
    await world.untilKnown(4);

    expect(await world.namesThere()).toEqual(["Ada", "Emmy", "Grace", "Marie"]);
    expect(await world.names()).toHaveLength(4);
    expect(await world.sql("SELECT FROM salesforce._trigger_log WHERE processed_at IS NULL")).toEqual([]);
  },
);
