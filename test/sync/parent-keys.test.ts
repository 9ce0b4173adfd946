import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { workspaces } from "../../functions/services/composition.ts";
import { exportConfig } from "../../lib/config/export-config.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { readStates } from "../../lib/settings/mapping-states.ts";
import { longTest } from "../support/run/whole-grid.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { createSyncWorld, type SyncWorld } from "../support/worlds/sync-world.ts";
import { stateNeeds } from "../support/worlds/worlds.ts";

const CONTACT = { object: "Contact", fields: ["Account.External_Id__c", "AccountId", "LastName"] };
const ACCOUNT = {
  object: "Account",
  fields: ["External_Id__c", "Name", "Parent__External_Id__c"],
  upsertField: "External_Id__c",
};

let cloud: BridgeCloud;
let world: SyncWorld;
let account: Mapping;
let contact: Mapping;
beforeAll(async () => {
  cloud = await startBridgeCloud();
  world = await createSyncWorld(cloud);
  await world.rest("POST", "/sobjects/Account", { Name: "First", External_Id__c: "A-1" });
  await world.rest("POST", "/sobjects/Contact", { LastName: "Loaded", Account: { External_Id__c: "A-1" } });
  const mappings = await world.map(ACCOUNT, CONTACT);
  const [one, other] = mappings.toSorted((a, b) => (a.sfObject < b.sfObject ? -1 : 1));
  if (!one || !other) throw new Error("the mappings were not made");
  [account, contact] = [one, other];
});
afterAll(async () => {
  await world.close();
  await cloud.close();
});

const row = async (lastName: string) =>
  (
    await world.sql(
      `SELECT c.account__external_id__c AS key, a.name AS parent, c._ab_lastop AS lastop, c._ab_err AS error
       FROM salesforce.contact c LEFT JOIN salesforce.account a ON a.sfid = c.accountid WHERE c.lastname = $1`,
      [lastName],
    )
  )[0];
const parentOf = async (lastName: string) =>
  (await world.soql(`SELECT Account.Name FROM Contact WHERE LastName = '${lastName}'`))[0]?.["Account"] ?? null;
const changes = () => world.sql("SELECT state FROM salesforce._trigger_log WHERE state <> 'SUCCESS'");

test("the first load fills the column with the parent's external id", async () => {
  expect(await row("Loaded")).toMatchObject({ key: "A-1", parent: "First" });
});

test("the mapping exports the field by the name that Heroku Connect gives it, whatever way it was asked for", async () => {
  const [document] = exportConfig([contact]).mappings;
  const again = await world.map({ ...CONTACT, fields: ["Account__r.external_id__c", "AccountId", "LastName"] });

  expect(document?.config).toMatchObject({ fields: { Account__External_Id__c: {}, AccountId: {}, LastName: {} } });
  expect(again.find(({ id }) => id === contact.id)).toMatchObject({ configVersion: contact.configVersion });
});

test.each([
  ["Account.Name", /Account\.Name names no parent by an external id/],
  ["Owner.External_Id__c", /names no parent/],
  ["Nowhere__r__Key__c", /is no field of this object/],
])("a mapping of %s is refused with its place", async (field, reason) => {
  await expect(world.map({ object: "Contact", fields: ["LastName", field] })).rejects.toThrow(reason);
});

test("a row names its parent by external id, and gets the parent's sfid", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname, account__external_id__c) VALUES ('Child', 'a-1')");

  await world.cycle(contact);
  await world.cycle(contact);

  expect(await parentOf("Child")).toMatchObject({ Name: "First" });
  expect(await row("Child")).toMatchObject({ key: "A-1", parent: "First", error: null });
  expect(await changes()).toEqual([]);
});

test("a row whose parent is not in Salesforce yet waits for it and then travels", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname, account__external_id__c) VALUES ('Early', 'A-2')");
  await world.sql("INSERT INTO salesforce.account (name, external_id__c) VALUES ('Second', 'A-2')");

  await world.cycle(contact);
  const waiting = await world.sql("SELECT state, sf_message FROM salesforce._trigger_log WHERE state <> 'SUCCESS'");
  await world.cycle(account);
  await world.cycle(contact);
  await world.cycle(contact);

  expect(waiting).toHaveLength(2);
  expect(await parentOf("Early")).toMatchObject({ Name: "Second" });
  expect(await row("Early")).toMatchObject({ key: "A-2", parent: "Second", lastop: "SYNCED" });
});

test("another external id in the column gives the record another parent, and NULL none", async () => {
  await world.sql("UPDATE salesforce.contact SET account__external_id__c = 'A-2' WHERE lastname = 'Child'");
  await world.sql("UPDATE salesforce.contact SET account__external_id__c = NULL WHERE lastname = 'Early'");

  await world.cycle(contact);
  await world.cycle(contact);

  expect(await parentOf("Child")).toMatchObject({ Name: "Second" });
  expect(await parentOf("Early")).toBeNull();
  expect(await row("Child")).toMatchObject({ key: "A-2", parent: "Second" });
  expect(await row("Early")).toMatchObject({ key: null, parent: null });
});

test("a parent given by its sfid wins over its external id, for Salesforce takes only one", async () => {
  await world.sql(
    `INSERT INTO salesforce.contact (lastname, accountid, account__external_id__c)
     SELECT 'Both', sfid, 'A-1' FROM salesforce.account WHERE name = 'Second'`,
  );

  await world.cycle(contact);
  await world.cycle(contact);

  expect(await parentOf("Both")).toMatchObject({ Name: "Second" });
  expect(await row("Both")).toMatchObject({ key: "A-2", parent: "Second" });
});

test("another parent in Salesforce is another external id in the row", async () => {
  const [found] = await world.soql("SELECT Id FROM Contact WHERE LastName = 'Loaded'");
  await world.rest("PATCH", `/sobjects/Contact/${found?.["Id"]}`, { Account: { External_Id__c: "A-2" } });

  await world.cycle(contact);

  expect(await row("Loaded")).toMatchObject({ key: "A-2", parent: "Second" });
});

test("a row and its parent in the same table travel in one cycle, the parent first", async () => {
  await world.sql(
    `INSERT INTO salesforce.account (name, external_id__c, parent__external_id__c)
     VALUES ('Root', 'R', NULL), ('Branch', 'B', 'R'), ('Leaf', 'L', 'B')`,
  );

  await world.cycle(account);

  const [leaf] = await world.soql("SELECT Parent.Name, Parent.Parent.Name FROM Account WHERE Name = 'Leaf'");
  expect(leaf).toMatchObject({ Parent: { Name: "Branch", Parent: { Name: "Root" } } });
});

describe("a child whose parent is not there for long", () => {
  const HOUR = 3_600;
  /** A row of now, by the time that the test moves; PostgreSQL stamps what is captured by its own. */
  const childOf = async (lastname: string, key: string) => {
    await world.sql("INSERT INTO salesforce.contact (lastname, account__external_id__c) VALUES ($1, $2)", [
      lastname,
      key,
    ]);
    const now = new Date(cloud.clock.now());
    await world.sql("UPDATE salesforce._trigger_log SET created_at = $1 WHERE state = 'NEW'", [now]);
  };
  const change = async (lastname: string) =>
    (
      await world.sql(
        `SELECT l.id::int, l.state, l.attempts, l.sf_message AS message, l.due_at FROM salesforce._trigger_log l
         JOIN salesforce.contact c ON c.id = l.record_id AND l.table_name = 'contact' WHERE c.lastname = $1 ORDER BY l.id`,
        [lastname],
      )
    )[0];
  /** Beats of some hours, as many as matter: how often a parent is looked for depends on the age of the change. */
  const pass = async (hours: number, step = HOUR) => {
    for (let seconds = 0; seconds < hours * HOUR; seconds += step) {
      await world.pass(step);
      await world.cycle(contact, "beat");
    }
  };
  const notices = async () => {
    const workspace = await workspaces().find(world.workspaceId);
    if (!workspace) throw new Error("the test's workspace is gone");
    const states = await readStates(stateNeeds(), workspace, false, new Date(cloud.clock.now()));
    return states.find(({ sf_object }) => sf_object === "Contact")?.notices;
  };

  test("waits without using up an attempt, says for whom, and goes with the slot after the parent's save", async () => {
    await childOf("Patient", "A-10");
    await pass(3);
    const waiting = await change("Patient");
    expect(waiting).toMatchObject({
      state: "NEW",
      attempts: 0,
      message: "WAITS_FOR_PARENT: Salesforce has no Account whose External_Id__c is A-10",
    });
    expect(await notices()).toEqual([
      {
        message: expect.stringMatching(
          /^1 changes wait for their parents, the oldest since \S+Z: Salesforce has no Account whose External_Id__c is A-10$/,
        ),
        remedy:
          "create the parents, or correct the external ids by which rows name them; after 31 days the changes end FAILED",
      },
    ]);
    await world.sql(
      "INSERT INTO salesforce.account (name, external_id__c) VALUES ('Tenth', 'a-10'), ('Other', 'A-11')",
    );
    await world.cycle(account);
    await world.pass(10);
    await world.cycle(contact, "beat");

    expect(await change("Patient")).toMatchObject({ state: "SUCCESS" });
    expect(await parentOf("Patient")).toMatchObject({ Name: "Tenth" });
    expect(await notices()).toEqual([]);
  });

  test("is woken by its own parent alone", async () => {
    await childOf("Sleeper", "A-20");
    await pass(2);
    const before = await change("Sleeper");
    await world.sql("INSERT INTO salesforce.account (name, external_id__c) VALUES ('Not it', 'A-200')");
    await world.cycle(account);

    expect(await change("Sleeper")).toEqual(before);
    await world.sql("UPDATE salesforce.account SET external_id__c = 'A-20' WHERE name = 'Not it'");
    await world.cycle(account);
    await world.cycle(contact, "beat");
    expect(await parentOf("Sleeper")).toMatchObject({ Name: "Not it" });
  });

  test("finds a parent that another user has made within a quarter of an hour", async () => {
    await childOf("Finder", "A-30");
    await pass(2);
    await world.rest("POST", "/sobjects/Account", { Name: "Thirtieth", External_Id__c: "A-30" });

    await pass(0.25, 300);

    expect(await parentOf("Finder")).toMatchObject({ Name: "Thirtieth" });
  });

  test("goes at once with a change that names another parent", async () => {
    await childOf("Corrected", "A-40");
    await pass(2);

    await world.sql("UPDATE salesforce.contact SET account__external_id__c = 'A-1' WHERE lastname = 'Corrected'");
    await world.cycle(contact, "beat");

    expect(await parentOf("Corrected")).toMatchObject({ Name: "First" });
    expect(await changes()).toEqual([]);
  });

  longTest(
    "costs its waiting calls that become rare, and ends FAILED in Salesforce's words after 31 days",
    async () => {
      await childOf("Orphan", "A-50");
      await world.cycle(contact);
      const saves = () => world.log.reduce((sum, { saves }) => sum + Number(saves ?? 0), 0);
      const before = saves();
      await pass(1, 60);
      expect(saves() - before).toBeLessThan(25);
      await world.pass(31 * 24 * HOUR);

      await world.cycle(contact, "beat");

      expect(await change("Orphan")).toMatchObject({
        state: "FAILED",
        message: "INVALID_FIELD: Foreign key external ID: A-50 not found for field External_Id__c in entity Account",
      });
      expect(await notices()).toEqual([]);
    },
  );
});
