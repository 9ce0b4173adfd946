import { beforeEach, describe, expect, test } from "vitest";
import { handler as acceptRestore } from "../../../functions/api/accept-restore.ts";
import { handler as beginRestore } from "../../../functions/api/begin-restore.ts";
import { handler as readRestorePlan } from "../../../functions/api/read-restore-plan.ts";
import { handler as setPostgres } from "../../../functions/api/set-postgres.ts";
import type { ReadRestorePlanData } from "../../../lib/http/openapi/types.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { firstInGate, longTest } from "../../support/run/whole-grid.ts";
import { type Backup, takeBackup } from "../../support/worlds/backups.ts";
import { importMappings } from "../../support/worlds/carry-out.ts";
import { eachInAWorld, world } from "../world.ts";

let contact: Mapping;
let account: Mapping;
eachInAWorld();

/** Contacts have an upsert field, accounts have none. */
function asked(policy: string) {
  const bridge = { conflict_policy: policy };
  const upsert = { object: "Contact", fields: ["LastName", "Email", "External_Id__c"], upsertField: "External_Id__c" };
  return [
    { ...upsert, bridge },
    { object: "Account", fields: ["Name", "Phone"], bridge },
  ];
}

async function map(policy: string, bridge: object = {}): Promise<void> {
  await world.map(...asked(policy).map((one) => ({ ...one, bridge: { ...one.bridge, ...bridge } })));
  await readAgain();
}
async function readAgain(): Promise<void> {
  [account, contact] = [await world.mappingOf("Account"), await world.mappingOf("Contact")];
}

const cycles = async (count = 1) => {
  for (let turn = 0; turn < count; turn += 1) for (const mapping of [account, contact]) await world.cycle(mapping);
};

const contacts = () => world.soql("SELECT LastName, Email, External_Id__c FROM Contact ORDER BY External_Id__c");
const accounts = () => world.soql("SELECT Name, Phone FROM Account ORDER BY Name");
const failures = () =>
  world.sql("SELECT table_name, action, sf_message FROM salesforce._trigger_log WHERE state = 'FAILED'");
const engine = async (mapping: Mapping) =>
  (await world.services.engine.read(world.workspaceId, mapping.id)).engine.state;

/** What a person does who has seen the plan. */
async function accept(mapping: Mapping, body: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const path = { mapping_id: mapping.id };
  await world.ask(acceptRestore, "accept-restore", { path, body });
  await world.carryOut();
}
const acceptBoth = async () => {
  for (const mapping of [account, contact]) await accept(mapping);
};
const readPlan = () => world.ask<ReadRestorePlanData>(readRestorePlan, "read-restore-plan");
/** What doctor advises where the database lacks Bridge's tables of this version. */
async function reconnect(): Promise<void> {
  await world.ask(setPostgres, "set-postgres", { body: { url: world.databaseUrl } });
  await world.carryOut();
}

/** The application writes, by the org's clock. */
async function write(text: string): Promise<void> {
  await world.sql(text);
  await world.sql(
    "UPDATE salesforce._trigger_log SET created_at = $1 WHERE state = 'NEW' AND created_at > $1::timestamptz + interval '1 day'",
    [new Date(world.cloud.clock.now())],
  );
}

/** Two rows of each table in step, and then changes of all kinds that wait as the backup begins. */
async function backUp(): Promise<Backup> {
  await write(
    "INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Ada', 'a'), ('Bo', 'b'), ('Cy', 'c')",
  );
  await write("INSERT INTO salesforce.account (name) VALUES ('One'), ('Two'), ('Three')");
  await cycles(2);
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
  await cycles(2);
  const [two] = await world.soql("SELECT Id FROM Account WHERE Name = 'Two'");
  await world.patch("Bo", { Email: "new@example.com" }, "colleague");
  await world.patch("Dee", { LastName: "Dora" }, "colleague");
  await world.colleague("PATCH", `/sobjects/Account/${two?.["Id"]}`, { Phone: "2" });
  await write("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Eve', 'e')");
  await cycles();
  await world.pass(600);
  await cycles();
}

/** PostgreSQL as it was at the backup, after both sides have continued. */
async function restoreAfterLive(): Promise<Backup> {
  const backup = await backUp();
  await live();
  await backup.restorePostgres();
  return backup;
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

/** Salesforce has what was live, and nothing old. */
async function expectLive(): Promise<void> {
  expect([await contacts(), await accounts()]).toEqual([CONTACTS, ACCOUNTS]);
}

const POLICIES = ["postgres_wins", "salesforce_wins", "latest_wins"];

const found = () =>
  world.sql(`SELECT table_name, action, split_part(sf_message, ':', 1) AS found FROM salesforce._trigger_log
    WHERE state = 'PENDING' ORDER BY id`);

describe.each(firstInGate(1, POLICIES))("under %s", (policy) => {
  beforeEach(() => map(policy));

  test("a restored PostgreSQL sends nothing old, and once a person has decided nothing is lost, doubled, unlinked or failed", async () => {
    await restoreAfterLive();

    await cycles(2);
    await world.pass(700);
    await cycles();

    await expectLive();
    expect((await engine(contact)).lastFailure?.reason).toBe("database_rewound");
    expect((await engine(contact)).brokenSince).not.toBeNull();
    expect((await engine(account)).brokenSince).not.toBeNull();
    expect(await found()).toEqual([
      { table_name: "contact", action: "UPDATE", found: "newer" },
      { table_name: "contact", action: "INSERT", found: "newer" },
      { table_name: "account", action: "UPDATE", found: "newer" },
      { table_name: "account", action: "INSERT", found: "proposed" },
    ]);

    await acceptBoth();
    await write("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Fay', 'f')");
    await write("INSERT INTO salesforce.account (name) VALUES ('Zero')");
    await cycles(3);

    expect(await contacts()).toEqual([...CONTACTS, { LastName: "Fay", Email: null, External_Id__c: "f" }]);
    expect(await accounts()).toEqual([...ACCOUNTS, { Name: "Zero", Phone: null }]);
    await expectInStep();
  });

  test("what was restored and never sent is sent once it is accepted, also where a person decides for the rows", async () => {
    await restoreAfterLive();
    await write("UPDATE salesforce.contact SET email = 'later@example.com' WHERE external_id__c = 'a'");
    await cycles(2);

    await accept(contact, { newer: "ours" });
    await accept(account, { newer: "ours", proposed: "leave", rows: [{ record_id: 2, decision: "leave" }] });
    expect(
      (await readPlan()).mappings.map(({ groups }) => groups.map(({ group, rows }) => [group, rows])),
    ).toContainEqual([
      ["newer", 1],
      ["proposed", 1],
    ]);
    await cycles(3);

    expect(await contacts()).toEqual([
      { LastName: "Ada", Email: "later@example.com", External_Id__c: "a" },
      { LastName: "Bo", Email: "old@example.com", External_Id__c: "b" },
      { LastName: "Dee", Email: null, External_Id__c: "d" },
      { LastName: "Eve", Email: null, External_Id__c: "e" },
    ]);
    expect(await accounts()).toEqual(ACCOUNTS);
    expect(await failures()).toEqual([]);
    expect(await found()).toEqual([
      { table_name: "account", action: "UPDATE", found: "newer" },
      { table_name: "account", action: "INSERT", found: "proposed" },
    ]);
  });

  test("a restore can be accepted while the application continues to write, and what it writes is sent then", async () => {
    await restoreAfterLive();
    await cycles(2);
    await world.pass(120);
    await write("UPDATE salesforce.contact SET email = 'later@example.com' WHERE external_id__c = 'a'");
    await write("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Fay', 'f')");
    await cycles();

    await accept(contact);
    await cycles(2);

    const [, ...others] = CONTACTS;
    expect(await contacts()).toEqual([
      { LastName: "Ada", Email: "later@example.com", External_Id__c: "a" },
      ...others,
      { LastName: "Fay", Email: null, External_Id__c: "f" },
    ]);
  });

  test("what a cycle held that the acceptance of a restore overtook is looked up all the same", async () => {
    await restoreAfterLive();
    await cycles(2);
    await acceptBoth();
    await write("UPDATE salesforce.contact SET lastname = 'Bea' WHERE external_id__c = 'b'");
    // As it leaves them: held under the configuration before, which it may not look them up by.
    await world.sql(
      "UPDATE salesforce._trigger_log SET state = 'PENDING', batch_id = 'rewound', sent_at = $1, fence = 1 WHERE state = 'NEW' AND table_name = 'contact'",
      [new Date(world.cloud.clock.now())],
    );
    await world.sql(`INSERT INTO salesforce._bridge_in_hand (id, table_name, ids)
      SELECT 'held', table_name, array_agg(id) FROM salesforce._trigger_log WHERE batch_id = 'rewound' AND processed_at IS NULL GROUP BY table_name`);

    await cycles(2);
    expect(await found()).toEqual([{ table_name: "contact", action: "UPDATE", found: "only_here" }]);
    await accept(contact);
    await cycles(2);

    expect(await contacts()).toContainEqual({ LastName: "Bea", Email: "new@example.com", External_Id__c: "b" });
    await expectInStep();
  });

  test("a database that lost its last moments is caught up without a question", async () => {
    await backUp();
    await live();
    const backup = await backUpMore();
    await cycles();
    await backup.restorePostgres();

    await cycles();
    await world.pass(700);
    await cycles(3);

    expect(await contacts()).toEqual([...CONTACTS, { LastName: "Gus", Email: null, External_Id__c: "g" }]);
    expect(await accounts()).toEqual([
      { Name: "Five", Phone: null },
      ...ACCOUNTS.slice(0, 3),
      { Name: "Two", Phone: "3" },
    ]);
    expect((await engine(contact)).brokenSince).toBeNull();
    expect(JSON.stringify(world.log)).toContain("the database has lost its last moments");
    await expectInStep();
  });
});

describe("a person decides for Salesforce", () => {
  // Where the application wins, a later change would be sent all the same.
  beforeEach(() => map("salesforce_wins"));

  test("what a person decides for Salesforce is read again, also where the cycle ends before it is read", async () => {
    await restoreAfterLive();
    await write("DELETE FROM salesforce.contact WHERE external_id__c = 'b'");
    await write("DELETE FROM salesforce.account WHERE name = 'Two'");
    await cycles(2);
    await acceptBoth();

    // The functions die as soon as what was given up has ended, before they read the records.
    const hasEnded = async () =>
      (await world.sql("SELECT FROM salesforce._trigger_log WHERE sf_message LIKE 'Salesforce''s values were kept%'"))
        .length > 0;
    world.interfere(async (call) => {
      if (call.startsWith("org.query") && (await hasEnded())) throw new Error("the function died");
    });
    await cycles();
    expect(await hasEnded()).toBe(true);
    world.interfere(null);
    await cycles(3);

    expect(await contacts()).toEqual(CONTACTS);
    await expectInStep();
  });

  test("what is changed after a restore is sent from the values that Salesforce has, not from those that a person gave up", async () => {
    await restoreAfterLive();
    await write("UPDATE salesforce.contact SET lastname = 'Bert' WHERE external_id__c = 'b'");
    await cycles(2);
    await world.pass(120);
    await write("UPDATE salesforce.contact SET lastname = 'Bea' WHERE external_id__c = 'b'");
    await cycles();

    await acceptBoth();
    await cycles(3);

    expect(await contacts()).toContainEqual({ LastName: "Bea", Email: "new@example.com", External_Id__c: "b" });
    await expectInStep();
  });
});

longTest("a mapping that only sends is looked up after a restore as well, and what it has sent ends", async () => {
  await map("postgres_wins", { sync_direction: "pg_to_sf" });
  const backup = await backUp();
  await live();
  for (const _ of [1, 2, 3, 4, 5, 6]) {
    await world.pass(60);
    await world.beat([account, contact]);
  }
  await backup.restorePostgres();
  await write("UPDATE salesforce.contact SET email = 'later@example.com' WHERE external_id__c = 'a'");

  await cycles(2);
  expect((await found()).filter(({ found }) => found === null)).toEqual([]);
  await acceptBoth();
  await cycles(3);

  await expectLive();
  expect(await failures()).toEqual([]);
  expect(await found()).toEqual([]);
});

describe("where the configuration was changed after the backup", () => {
  beforeEach(() => map("salesforce_wins"));

  const change = async (policy: string) => {
    await importMappings(world.workspaceId, asked(policy));
    await world.carryOut();
    await readAgain();
  };

  test("an older DynamoDB is no silent stop: the mapping is broken with the reason, and continues once a person has seen it", async () => {
    const backup = await backUp();
    await change("postgres_wins");
    await live();
    await backup.restoreDynamoDb();
    await readAgain();
    await write("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Fay', 'f')");

    await cycles(3);

    expect((await engine(contact)).lastFailure?.reason).toBe("config_behind");
    expect((await engine(contact)).brokenSince).not.toBeNull();
    expect(await contacts()).toEqual(CONTACTS);
    const plan = await readPlan();
    expect(plan.mappings.map(({ sf_object, state, changed_since }) => ({ sf_object, state, changed_since }))).toEqual(
      ["Account", "Contact"].map((sf_object) => ({
        sf_object,
        state: "config_behind",
        changed_since: [{ setting: "conflict_policy", database: "postgres_wins", here: "salesforce_wins" }],
      })),
    );

    await acceptBoth();
    await readAgain();
    await cycles(3);

    expect(await contacts()).toEqual([...CONTACTS, { LastName: "Fay", Email: null, External_Id__c: "f" }]);
    expect(await accounts()).toEqual(ACCOUNTS);
    await expectInStep();
  });

  longTest("an older PostgreSQL whose tables are provisioned again sends nothing old either", async () => {
    const backup = await backUp();
    await change("postgres_wins");
    await live();
    await backup.restorePostgres();

    await cycles(3);
    expect((await engine(contact)).brokenSince).not.toBeNull();
    await reconnect();
    await cycles(2);

    expect((await engine(contact)).lastFailure?.reason).toBe("database_rewound");
    await expectLive();
    await acceptBoth();
    await cycles(3);
    await expectLive();
    await expectInStep();
  });
});

describe("where both sides were restored to one time, which nothing shows", () => {
  test.each(firstInGate(1, POLICIES.toReversed()))(
    "a person says so, and nothing is lost, under %s",
    async (policy) => {
      await map(policy);
      const backup = await restoreAfterLive();
      await backup.restoreDynamoDb();

      await world.ask(beginRestore, "begin-restore");
      await cycles(2);

      expect((await engine(contact)).lastFailure?.reason).toBe("database_rewound");
      await expectLive();
      await acceptBoth();
      await cycles(3);
      await expectLive();
      await expectInStep();
    },
  );
});

/** What waits just before a failover. */
async function backUpMore(): Promise<Backup> {
  await write("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Gus', 'g')");
  await write("INSERT INTO salesforce.account (name) VALUES ('Five')");
  await write("UPDATE salesforce.account SET phone = '3' WHERE name = 'Two'");
  return takeBackup(world);
}

async function expectInStep(): Promise<void> {
  expect(await failures()).toEqual([]);
  expect(await found()).toEqual([]);
  expect((await engine(contact)).brokenSince).toBeNull();
  for (const { object, fields } of asked("")) {
    const { rows, records } = await world.bothSides(fields, object);
    expect(rows).toEqual(records);
  }
}
