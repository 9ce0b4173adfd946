import { describe, expect, test } from "vitest";
import { exportConfig } from "../../lib/config/export-config.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { allInOneWorld, world } from "./world.ts";

const CONTACT = { object: "Contact", fields: ["Account.External_Id__c", "AccountId", "LastName"] };
const ACCOUNT = {
  object: "Account",
  fields: ["External_Id__c", "Name", "Parent__External_Id__c"],
  upsertField: "External_Id__c",
};

let account: Mapping;
allInOneWorld(async () => {
  await world.rest("POST", "/sobjects/Account", { Name: "First", External_Id__c: "A-1" });
  await world.create("Loaded", { Account: { External_Id__c: "A-1" } });
  await world.map(ACCOUNT, CONTACT);
  account = await world.mappingOf("Account");
  world.contact = await world.mappingOf("Contact");
});

const insert = (lastname: string, key: string) =>
  world.sql("INSERT INTO salesforce.contact (lastname, account__external_id__c) VALUES ($1, $2)", [lastname, key]);
const insertAccount = (name: string, key: string) =>
  world.sql("INSERT INTO salesforce.account (name, external_id__c) VALUES ($1, $2)", [name, key]);
const rename = (lastname: string, key: string | null) =>
  world.sql("UPDATE salesforce.contact SET account__external_id__c = $2 WHERE lastname = $1", [lastname, key]);
const row = async (lastName: string) =>
  (
    await world.sql(
      `SELECT c.account__external_id__c AS key, a.name AS parent, c._ab_lastop AS lastop, c._ab_err AS error
       FROM salesforce.contact c LEFT JOIN salesforce.account a ON a.sfid = c.accountid WHERE c.lastname = $1`,
      [lastName],
    )
  )[0];
const parentOf = async (lastName: string) => {
  const [found] = await world.soql(`SELECT Account.Name FROM Contact WHERE LastName = '${lastName}'`);
  return (found?.["Account"] as { Name: string } | null)?.Name ?? null;
};
const unsettled = async () => (await world.states()).filter((state) => state !== "SUCCESS");

test("the mapping exports the field by the name that Heroku Connect gives it, whatever way it was asked for", async () => {
  const [document] = exportConfig([world.contact]).mappings;
  const again = await world.map({ ...CONTACT, fields: ["Account__r.external_id__c", "AccountId", "LastName"] });

  expect(document?.config).toMatchObject({ fields: { Account__External_Id__c: {}, AccountId: {}, LastName: {} } });
  expect(again.find(({ id }) => id === world.contact.id)).toMatchObject({ configVersion: world.contact.configVersion });
});

test.each([
  ["Account.Name", /Account\.Name names no parent by an external id/],
  ["Owner.External_Id__c", /names no parent/],
  ["Nowhere__r__Key__c", /is no field of this object/],
])("a mapping of %s is refused with its place", async (field, reason) => {
  await expect(world.map({ object: "Contact", fields: ["LastName", field] })).rejects.toThrow(reason);
});

test("a row names its parent by external id, and gets the parent's sfid; one whose parent is not in Salesforce yet waits for it and then travels", async () => {
  expect(await row("Loaded")).toMatchObject({ key: "A-1", parent: "First" });
  await insert("Child", "a-1");
  await insert("Early", "A-2");
  await insertAccount("Second", "A-2");

  await world.cycles(2);
  expect(await parentOf("Child")).toBe("First");
  expect(await row("Child")).toMatchObject({ key: "A-1", parent: "First", error: null });
  expect(await unsettled()).toHaveLength(2);
  await world.cycles(1, account);
  await world.cycles(2);

  expect(await parentOf("Early")).toBe("Second");
  expect(await row("Early")).toMatchObject({ key: "A-2", parent: "Second", lastop: "SYNCED" });
  expect(await unsettled()).toEqual([]);
});

test("another external id gives the record another parent, NULL none, and a parent given by its sfid wins, for Salesforce takes only one", async () => {
  await rename("Child", "A-2");
  await rename("Early", null);
  await world.sql(
    `INSERT INTO salesforce.contact (lastname, accountid, account__external_id__c)
     SELECT 'Both', sfid, 'A-1' FROM salesforce.account WHERE name = 'Second'`,
  );

  await world.cycles(2);

  expect([await parentOf("Child"), await parentOf("Early"), await parentOf("Both")]).toEqual([
    "Second",
    null,
    "Second",
  ]);
  expect(await row("Child")).toMatchObject({ key: "A-2", parent: "Second" });
  expect(await row("Early")).toMatchObject({ key: null, parent: null });
  expect(await row("Both")).toMatchObject({ key: "A-2", parent: "Second" });
});

test("another parent in Salesforce is another external id in the row", async () => {
  await world.patch("Loaded", { Account: { External_Id__c: "A-2" } });

  await world.cycles();

  expect(await row("Loaded")).toMatchObject({ key: "A-2", parent: "Second" });
});

test("a row and its parent in the same table travel in one cycle, the parent first", async () => {
  await world.sql(
    `INSERT INTO salesforce.account (name, external_id__c, parent__external_id__c)
     VALUES ('Root', 'R', NULL), ('Branch', 'B', 'R'), ('Leaf', 'L', 'B')`,
  );

  await world.cycles(1, account);

  const [leaf] = await world.soql("SELECT Parent.Name, Parent.Parent.Name FROM Account WHERE Name = 'Leaf'");
  expect(leaf).toMatchObject({ Parent: { Name: "Branch", Parent: { Name: "Root" } } });
});

describe("a child whose parent is not there for long", () => {
  const HOUR = 3_600;
  /** A row of now, by the time that the test moves; PostgreSQL stamps what is captured by its own. */
  const childOf = async (lastname: string, key: string) => {
    await insert(lastname, key);
    const now = new Date(world.cloud.clock.now());
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
  const pass = (hours: number, step = HOUR) => world.beats(Math.ceil((hours * HOUR) / step), step);
  const notices = async () => (await world.shown()).find(({ sf_object }) => sf_object === "Contact")?.notices;

  test("waits without using up an attempt, says for whom, and goes with the slot after its own parent's save", async () => {
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
    await insertAccount("Not it", "A-100");
    await world.cycles(1, account);
    expect(await change("Patient")).toEqual(waiting);
    await insertAccount("Tenth", "a-10");
    await world.cycles(1, account);
    await world.beats(1, 10);

    expect(await change("Patient")).toMatchObject({ state: "SUCCESS" });
    expect(await parentOf("Patient")).toBe("Tenth");
    expect(await notices()).toEqual([]);
  });

  /** The other ways in which a parent appears, and the beats until the child goes. */
  test.each<
    readonly [string, key: string, appears: () => Promise<unknown>, goes: () => Promise<unknown>, parent: string]
  >([
    [
      "at once where a record gets its key by an update",
      "A-20",
      async () => {
        await world.sql("UPDATE salesforce.account SET external_id__c = 'A-20' WHERE name = 'Not it'");
        await world.cycles(1, account);
      },
      () => world.cycle(world.contact, "beat"),
      "Not it",
    ],
    [
      "within a quarter of an hour where another user has made it",
      "A-30",
      () => world.rest("POST", "/sobjects/Account", { Name: "Thirtieth", External_Id__c: "A-30" }),
      () => pass(0.25, 300),
      "Thirtieth",
    ],
    [
      "at once with a change that names another",
      "A-40",
      () => rename("A-40", "A-1"),
      () => world.cycle(world.contact, "beat"),
      "First",
    ],
  ])("finds one %s", async (_, key, appears, goes, parent) => {
    await childOf(key, key);
    await pass(2);
    await appears();

    await goes();

    expect(await parentOf(key)).toBe(parent);
    expect(await unsettled()).toEqual([]);
  });
});
