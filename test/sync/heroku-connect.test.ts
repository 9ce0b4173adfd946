import { expect, test } from "vitest";
import { herokuConnectSchemas, workspaces } from "../../functions/services/composition.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { longTest } from "../support/run/whole-grid.ts";
import type { BridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { AS_HEROKU_CONNECT, AS_THE_APPLICATION, herokuConnectSchema } from "../support/worlds/heroku-connect.ts";
import type { Row, SyncWorld } from "../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
aWorldForEachTest(
  (made) => {
    ({ cloud, world } = made);
  },
  { isBefore: true },
);

const ELEVEN_MINUTES = 11 * 60;
const CONTACT = {
  table: "contact",
  columns: { email: "varchar(80)", external_id__c: "varchar(64)", lastname: "varchar(80)", createddate: "timestamp" },
};

/** An org with some contacts, and a database into which Heroku Connect has read them, its zone not UTC. */
async function theirDatabase(keyed: boolean): Promise<void> {
  const names = ["Ada", "Emmy", "Grace", "Marie"];
  await world.createRecords(
    "Contact",
    names.map((LastName) => ({ LastName, External_Id__c: `K-${LastName}` })),
  );
  await world.pass(3600);
  const [last] = await world.soql("SELECT Id FROM Contact WHERE LastName = 'Ada'");
  await world.rest("PATCH", `/sobjects/Contact/${last?.["Id"]}`, { LastName: "Ada" });
  await world.sql("SET timezone = 'America/New_York'");
  await world.sql(herokuConnectSchema([{ ...CONTACT, ...(keyed && { upsertColumn: "external_id__c" }) }]));
  await world.sql(AS_HEROKU_CONNECT);
  for (const record of await world.soql(
    "SELECT Id, LastName, External_Id__c, SystemModstamp, CreatedDate FROM Contact",
  )) {
    await world.sql(
      `INSERT INTO salesforce.contact (sfid, lastname, external_id__c, systemmodstamp, createddate, isdeleted)
       VALUES ($1, $2, $3, $4::timestamptz AT TIME ZONE 'UTC', $5::timestamptz AT TIME ZONE 'UTC', false)`,
      [record["Id"], record["LastName"], record["External_Id__c"], record["SystemModstamp"], record["CreatedDate"]],
    );
  }
  await world.sql(AS_THE_APPLICATION);
}

async function adopt(keyed: boolean): Promise<Mapping> {
  const { postgres } = (await (await workspaces().find(world.workspaceId))?.open()) ?? {};
  if (!postgres) throw new Error("the test's workspace is not connected");
  await herokuConnectSchemas.adopt(postgres, world.workspaceId);
  const fields = ["Id", "SystemModstamp", "IsDeleted", "CreatedDate", "Email", "External_Id__c", "LastName"];
  return mapped(world, { object: "Contact", fields, ...(keyed && { upsertField: "External_Id__c" }) });
}

const row = async (name: string): Promise<Row | undefined> =>
  (await world.sql("SELECT * FROM salesforce.contact WHERE lastname = $1", [name]))[0];
/** Changes with every write of the row. */
const versionOf = async (name: string) =>
  (await world.sql("SELECT xmin::text, ctid::text FROM salesforce.contact WHERE lastname = $1", [name]))[0];
const idOf = async (name: string) => (await row(name))?.["sfid"];
const namesThere = async () =>
  (await world.soql("SELECT LastName FROM Contact ORDER BY LastName")).map(({ LastName }) => LastName);
const requestsSince = async (before: number) =>
  ((await world.control("GET", "/requests")) as { api: string; request: string }[])
    .slice(before)
    .filter(({ api }) => api !== "OAUTH")
    .map(({ request }) => request);

test("a table is adopted without a reload: what changed meanwhile comes, what waited goes once, and no record is read again", async () => {
  await theirDatabase(true);
  await world.pass(3600);
  await world.rest("PATCH", `/sobjects/Contact/${await idOf("Ada")}`, { LastName: "Ada changed there" });
  await world.rest("DELETE", `/sobjects/Contact/${await idOf("Emmy")}`);
  await world.rest("POST", "/sobjects/Contact", { LastName: "New there", External_Id__c: "K-there" });
  await world.sql("UPDATE salesforce.contact SET email = 'grace@example.com' WHERE lastname = 'Grace'");
  await world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('New here', 'K-here')");
  const before = (await requestsSince(0)).length;
  const untouched = await versionOf("Marie");

  const contact = await adopt(true);
  const adoption = (await requestsSince(0)).slice(before);
  await world.cycle(contact);
  await world.cycle(contact);

  // The import looks at the object, provisioning describes it, and one call looks up all rows' ids.
  expect(adoption).toEqual([
    "GET /services/data/v66.0/sobjects",
    "GET /services/data/v66.0/sobjects/Contact/describe",
    "GET /services/data/v66.0/sobjects/Contact/describe",
    "POST /services/data/v66.0/composite",
  ]);
  expect(await versionOf("Marie")).toEqual(untouched);
  expect(await world.sql("SELECT lastname FROM salesforce.contact ORDER BY 1")).toEqual(
    ["Ada changed there", "Grace", "Marie", "New here", "New there"].map((lastname) => ({ lastname })),
  );
  expect(await namesThere()).toEqual(["Ada changed there", "Grace", "Marie", "New here", "New there"]);
  expect(await world.sql("SELECT action, state FROM salesforce._trigger_log ORDER BY id")).toEqual([
    { action: "UPDATE", state: "SUCCESS" },
    { action: "INSERT", state: "SUCCESS" },
  ]);
  expect(await row("Grace")).toMatchObject({ _hc_lastop: "UPDATED", _ab_lastop: "UPDATED", _hc_err: null });
});

test("of inserts that Heroku Connect had under way one that has arrived is attached to its record, by any user, and another is sent", async () => {
  await theirDatabase(false);
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Arrived'), ('Not arrived')");
  await world.sql("UPDATE salesforce._trigger_log SET state = 'PENDING', created_at = $1", [
    new Date(cloud.clock.now()).toISOString(),
  ]);
  const { id } = (await world.rest("POST", "/sobjects/Contact", { LastName: "Arrived" })) as { id: string };
  await world.pass(600);

  const contact = await adopt(false);
  await world.cycle(contact);
  const atFirst = [await idOf("Arrived"), await idOf("Not arrived")];
  await world.pass(ELEVEN_MINUTES);
  await world.cycle(contact);
  await world.cycle(contact);

  expect(atFirst).toEqual([null, null]);
  expect((await namesThere()).filter((name) => String(name).includes("rrived"))).toEqual(["Arrived", "Not arrived"]);
  expect(
    await world.sql("SELECT lastname, sfid FROM salesforce.contact WHERE lastname LIKE '%rrived' ORDER BY lastname"),
  ).toEqual([
    { lastname: "Arrived", sfid: id },
    { lastname: "Not arrived", sfid: expect.any(String) },
  ]);
  expect(await world.sql("SELECT state FROM salesforce._trigger_log")).toEqual(Array(2).fill({ state: "SUCCESS" }));
});

longTest(
  "what Heroku Connect could not send can be retried, and then its row says so in both products' words",
  async () => {
    await theirDatabase(true);
    await world.sql("UPDATE salesforce.contact SET email = 'not an address' WHERE lastname = 'Marie'");
    await world.sql(
      `UPDATE salesforce._trigger_log SET state = 'FAILED', processed_at = now(), sf_message = 'INVALID_EMAIL_ADDRESS: no'`,
    );
    await world.sql(AS_HEROKU_CONNECT);
    await world.sql("UPDATE salesforce.contact SET _hc_lastop = 'FAILED', _hc_err = '{}' WHERE lastname = 'Marie'");
    await world.sql(AS_THE_APPLICATION);

    const contact = await adopt(true);
    await world.cycle(contact);
    const before = await row("Marie");
    await world.sql("UPDATE salesforce.contact SET email = 'marie@example.com' WHERE lastname = 'Marie'");
    await world.cycle(contact);

    expect(before).toMatchObject({ _ab_lastop: "FAILED", _ab_err: "INVALID_EMAIL_ADDRESS: no", _hc_lastop: "FAILED" });
    expect(await row("Marie")).toMatchObject({
      _ab_lastop: "UPDATED",
      _ab_err: null,
      _hc_lastop: "UPDATED",
      _hc_err: null,
    });
    expect(await world.soql("SELECT Email FROM Contact WHERE LastName = 'Marie'")).toEqual([
      { Email: "marie@example.com" },
    ]);
  },
);

test("upserts, updates and deletes that Heroku Connect had under way end as if each had been sent once", async () => {
  await theirDatabase(true);
  const ids = { Grace: await idOf("Grace"), Emmy: await idOf("Emmy") };
  await world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('New', 'K-new')");
  await world.sql("UPDATE salesforce.contact SET email = 'there@example.com' WHERE lastname = 'Grace'");
  await world.sql("UPDATE salesforce.contact SET email = 'lost@example.com' WHERE lastname = 'Marie'");
  await world.sql("DELETE FROM salesforce.contact WHERE lastname = 'Emmy'");
  await world.sql("UPDATE salesforce._trigger_log SET state = 'PENDING'");
  await world.rest("POST", "/sobjects/Contact", { LastName: "New", External_Id__c: "K-new" });
  await world.rest("PATCH", `/sobjects/Contact/${ids.Grace}`, { Email: "there@example.com" });
  await world.rest("DELETE", `/sobjects/Contact/${ids.Emmy}`);

  const contact = await adopt(true);
  await world.cycle(contact);
  await world.pass(ELEVEN_MINUTES);
  await world.cycle(contact);
  await world.cycle(contact);

  const there = await world.soql("SELECT Id, LastName, Email FROM Contact ORDER BY LastName");
  expect(there.map(({ LastName, Email }) => [LastName, Email])).toEqual([
    ["Ada", null],
    ["Grace", "there@example.com"],
    ["Marie", "lost@example.com"],
    ["New", null],
  ]);
  expect(
    await world.sql(
      'SELECT sfid AS "Id", lastname AS "LastName", email AS "Email" FROM salesforce.contact ORDER BY lastname',
    ),
  ).toEqual(there);
  expect(await world.sql("SELECT DISTINCT state FROM salesforce._trigger_log")).toEqual([{ state: "SUCCESS" }]);
});

test.each([
  { keyed: false, without: "without an upsert field" },
  { keyed: true, without: "with one" },
])(
  "nothing comes back from the dead, $without: a row inserted and deleted under Heroku Connect ends without a record",
  async ({ keyed }) => {
    await theirDatabase(keyed);
    const insert = "INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ($1, $2)";
    const names = ["Came and went", "Was sent", "Was not sent"];
    for (const name of names) await world.sql(insert, [name, `K-${name}`]);
    await world.sql("UPDATE salesforce._trigger_log SET state = 'PENDING', created_at = $1 WHERE id > 1", [
      new Date(cloud.clock.now()).toISOString(),
    ]);
    await world.sql("DELETE FROM salesforce.contact WHERE sfid IS NULL");
    await world.rest("POST", "/sobjects/Contact", { LastName: "Was sent", External_Id__c: "K-Was sent" });
    await world.pass(600);

    const contact = await adopt(keyed);
    await world.cycle(contact);
    await world.pass(ELEVEN_MINUTES);
    for (let cycles = 0; cycles < 4; cycles += 1) await world.cycle(contact);

    expect(await namesThere()).toEqual(["Ada", "Emmy", "Grace", "Marie"]);
    expect(await world.sql("SELECT lastname FROM salesforce.contact ORDER BY 1")).toHaveLength(4);
    expect(
      await world.sql("SELECT count(*)::int AS open FROM salesforce._trigger_log WHERE processed_at IS NULL"),
    ).toEqual([{ open: 0 }]);
  },
);
