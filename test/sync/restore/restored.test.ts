import { beforeEach, describe, expect, test } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { type Backup, takeBackup } from "../../support/worlds/backups.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest } from "../../support/worlds/worlds.ts";

let world: SyncWorld;
let contact: Mapping;
let account: Mapping;
aWorldForEachTest((made) => {
  ({ world } = made);
});

/** Contacts have an upsert field, accounts have none. */
async function map(policy: "salesforce_wins" | "postgres_wins"): Promise<void> {
  const bridge = { conflict_policy: policy };
  const upsert = { object: "Contact", fields: ["LastName", "Email", "External_Id__c"], upsertField: "External_Id__c" };
  [account, contact] = (await world.map({ ...upsert, bridge }, { object: "Account", fields: ["Name", "Phone"], bridge }))
    .toSorted((one, other) => one.sfObject.localeCompare(other.sfObject)) as [Mapping, Mapping];
}

const cycles = async () => {
  for (const mapping of [account, contact]) await world.cycle(mapping);
};

const contacts = () =>
  world.soql("SELECT LastName, Email, External_Id__c FROM Contact ORDER BY External_Id__c");
const accounts = () => world.soql("SELECT Name, Phone FROM Account ORDER BY Name");
const rowsOf = (table: string, columns: string) => world.sql(`SELECT ${columns} FROM salesforce.${table} ORDER BY 1`);
const failures = () =>
  world.sql("SELECT table_name, action, sf_message FROM salesforce._trigger_log WHERE state = 'FAILED'");
const engine = async (mapping: Mapping) => (await world.services.engine.read(world.workspaceId, mapping.id)).engine.state;

/** The application writes, by the org's clock. */
async function write(text: string): Promise<void> {
  await world.sql(text);
  await world.sql("UPDATE salesforce._trigger_log SET created_at = $1 WHERE state = 'NEW'", [
    new Date(world.cloud.clock.now()),
  ]);
}

/** Two rows of each table in step, and then changes of all kinds that wait as the backup is taken. */
async function backUp(): Promise<Backup> {
  await write("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Ada', 'a'), ('Bo', 'b'), ('Cy', 'c')");
  await write("INSERT INTO salesforce.account (name) VALUES ('One'), ('Two'), ('Three')");
  await cycles();
  await cycles();
  await world.pass(600);
  await write("UPDATE salesforce.contact SET email = 'old@example.com' WHERE external_id__c IN ('a', 'b')");
  await write("DELETE FROM salesforce.contact WHERE external_id__c = 'c'");
  await write("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Dee', 'd')");
  await write("UPDATE salesforce.account SET phone = '1' WHERE name IN ('One', 'Two')");
  await write("INSERT INTO salesforce.account (name) VALUES ('Four')");
  return takeBackup(world);
}

/** What was sent after the backup, and what people have changed since. */
async function live(): Promise<void> {
  await cycles();
  await cycles();
  const [bo] = await world.soql("SELECT Id FROM Contact WHERE External_Id__c = 'b'");
  const [dee] = await world.soql("SELECT Id FROM Contact WHERE External_Id__c = 'd'");
  const [two] = await world.soql("SELECT Id FROM Account WHERE Name = 'Two'");
  await world.colleague("PATCH", `/sobjects/Contact/${bo?.["Id"]}`, { Email: "new@example.com" });
  await world.colleague("PATCH", `/sobjects/Contact/${dee?.["Id"]}`, { LastName: "Dora" });
  await world.colleague("PATCH", `/sobjects/Account/${two?.["Id"]}`, { Phone: "2" });
  await write("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Eve', 'e')");
  await cycles();
  await world.pass(600);
  await cycles();
}

const CONTACTS = [
  { LastName: "Ada", Email: "old@example.com", External_Id__c: "a" },
  { LastName: "Bo", Email: "new@example.com", External_Id__c: "b" },
  { LastName: "Dora", Email: null, External_Id__c: "d" },
  { LastName: "Eve", Email: null, External_Id__c: "e" },
];
const ACCOUNTS = [
  { Name: "Four", Phone: null },
  { Name: "One", Phone: "1" },
  { Name: "Three", Phone: null },
  { Name: "Two", Phone: "2" },
];

describe.each(["salesforce_wins", "postgres_wins"] as const)("under %s", (policy) => {
  beforeEach(() => map(policy));

  test("a restored PostgreSQL sends nothing before a person has decided, and the mapping is broken meanwhile", async () => {
    const backup = await backUp();
    await live();
    await backup.restorePostgres();

    for (const _ of [1, 2, 3]) await cycles();
    await world.pass(700);
    await cycles();

    expect(await contacts()).toEqual(CONTACTS);
    expect(await accounts()).toEqual(ACCOUNTS);
    expect(await failures()).toEqual([]);
    console.log(JSON.stringify(world.log.slice(-6), null, 1));
    expect((await engine(contact)).lastFailure?.reason).toBe("database_rewound");
    expect((await engine(contact)).brokenSince).not.toBeNull();
    expect((await engine(account)).brokenSince).not.toBeNull();
    const waits = await world.sql(
      "SELECT table_name, action, split_part(sf_message, ':', 1) AS found FROM salesforce._trigger_log WHERE state = 'PENDING' ORDER BY id",
    );
    expect(waits).toEqual([
      { table_name: "contact", action: "UPDATE", found: "newer" },
      { table_name: "contact", action: "INSERT", found: "newer" },
      { table_name: "account", action: "UPDATE", found: "newer" },
      { table_name: "account", action: "INSERT", found: "proposed" },
    ]);
    expect(await rowsOf("contact", "external_id__c, lastname")).toMatchObject([
      { external_id__c: "a" }, { external_id__c: "b" }, { external_id__c: "d" }, { external_id__c: "e", lastname: "Eve" },
    ]);
  });
});
