import { expect, test } from "vitest";
import { firstInGate } from "../../support/run/whole-grid.ts";
import type { Row } from "../../support/worlds/sync-world.ts";
import { eachInAWorld, LOST, world } from "../world.ts";

/** Salesforce refuses it; no rule of ours does. */
const UNBORN = "2099-01-01";

eachInAWorld();

const mapContact = (upsertField?: string) =>
  world.mapContact(["Birthdate", "Email", "External_Id__c", "LastName", "Title"], upsertField ? { upsertField } : {});

/** What keeps a cycle from getting the results of what it sends. */
const TROUBLES = {
  none: async () => undefined,
  "a kill after the claim": () => killAt("store.markSent"),
  "a kill after the save": () => killAt("store.settle"),
  "a lost answer": () => world.fault(LOST),
} as const;

type Trouble = keyof typeof TROUBLES;

const GRID = [
  { upsertField: undefined, trouble: "a kill after the claim" },
  { upsertField: "External_Id__c", trouble: "none" },
  { upsertField: undefined, trouble: "a lost answer" },
  { upsertField: undefined, trouble: "none" },
  { upsertField: "External_Id__c", trouble: "a kill after the claim" },
  { upsertField: undefined, trouble: "a kill after the save" },
  { upsertField: "External_Id__c", trouble: "a lost answer" },
  { upsertField: "External_Id__c", trouble: "a kill after the save" },
] as const;

async function killAt(step: string): Promise<void> {
  let isDead = false;
  world.interfere((call) => {
    isDead ||= call === step;
    if (isDead) throw new Error("killed");
  });
}

/** One cycle in trouble, and what the next minutes bring: its lease runs out, beats continue, what is in doubt becomes known. */
async function cycles(trouble: Trouble): Promise<void> {
  await TROUBLES[trouble]();
  await world.cycles();
  if (trouble === "none") return;
  world.interfere(null);
  await settleDown();
}

async function settleDown(): Promise<void> {
  await world.sql("UPDATE salesforce._bridge_state SET lease_until = NULL");
  await world.cycles();
  await world.untilKnown();
}

const rows = (columns: string) => world.sql(`SELECT ${columns} FROM salesforce.contact ORDER BY id`);
const records = (fields: string) => world.soql(`SELECT ${fields} FROM Contact`);
const totals = async () => (await world.sql("SELECT success::int, failed::int FROM salesforce._bridge_totals"))[0];
const errors = async () =>
  Number((await world.sql("SELECT rows_failed FROM salesforce._bridge_state"))[0]?.["rows_failed"]);
const failed = (changes: number) => Array(changes).fill("FAILED");

test.each(firstInGate(1, GRID))(
  "a mapping with the upsert field $upsertField, in spite of $trouble, makes one record with all values of a refused new row that was corrected",
  async ({ upsertField, trouble }) => {
    await mapContact(upsertField);
    await world.sql(
      `INSERT INTO salesforce.contact (lastname, external_id__c, email, birthdate)
       VALUES ('Curie', 'C-1', 'm@example.com', $1)`,
      [UNBORN],
    );
    await cycles(trouble);
    await world.sql("UPDATE salesforce.contact SET title = 'Dr'");
    await cycles(trouble);
    expect(await world.states()).toEqual(failed(2));

    await world.sql("UPDATE salesforce.contact SET birthdate = '1867-11-07'");
    await cycles(trouble);

    expect(await world.states()).toEqual(["SUCCESS", "SUCCESS", "SUCCESS"]);
    expect(await totals()).toEqual({ success: 3, failed: 0 });
    expect(await errors()).toBe(2);
    const [record, ...others] = await records("Id, LastName, External_Id__c, Email, Title, Birthdate");
    expect(others).toEqual([]);
    expect(record).toMatchObject({
      LastName: "Curie",
      External_Id__c: "C-1",
      Email: "m@example.com",
      Title: "Dr",
      Birthdate: "1867-11-07",
    });
    expect(await rows("sfid, _ab_err")).toEqual([{ sfid: record?.["Id"], _ab_err: null }]);
  },
);

test.each(firstInGate(1, GRID.toReversed()))(
  "a mapping with the upsert field $upsertField, in spite of $trouble, keeps a refused value on its row, whatever is pulled, and sends it with what corrects it",
  async ({ upsertField, trouble }) => {
    await mapContact(upsertField);
    await world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Curie', 'C-1')");
    await settleDown();
    await world.sql("UPDATE salesforce.contact SET email = 'm@example.com', birthdate = $1", [UNBORN]);
    await cycles(trouble);

    await world.sql("UPDATE salesforce.contact SET title = 'Dr'");
    await TROUBLES[trouble]();
    await world.cycles();
    world.interfere(null);
    await settleDown();
    const refused = await rows("email, title, _ab_lastop, _ab_err LIKE '%Birthdate%' AS says_why");
    const statesThen = await world.states();
    await world.sql("UPDATE salesforce.contact SET birthdate = '1867-11-07'");
    await changeThere({ LastName: "Skłodowska" });
    await cycles(trouble);

    expect(refused).toEqual([{ email: "m@example.com", title: "Dr", _ab_lastop: "FAILED", says_why: true }]);
    expect(statesThen).toEqual(["SUCCESS", "FAILED", "FAILED"]);
    expect(await world.states()).toEqual(Array(4).fill("SUCCESS"));
    expect(await records("LastName, Email, Title, Birthdate")).toEqual([
      { LastName: "Skłodowska", Email: "m@example.com", Title: "Dr", Birthdate: "1867-11-07" },
    ]);
    expect(await rows("lastname, email, title, birthdate::text, _ab_err")).toEqual([
      { lastname: "Skłodowska", email: "m@example.com", title: "Dr", birthdate: "1867-11-07", _ab_err: null },
    ]);
  },
);

const changeThere = async (values: Row) => {
  const [record] = await records("Id");
  await world.rest("PATCH", `/sobjects/Contact/${record?.["Id"]}`, values);
};

test("a refused value is on its row with its error until the record changes in Salesforce", async () => {
  await mapContact();
  await world.insert("Curie");
  await world.cycles();
  await world.sql("UPDATE salesforce.contact SET birthdate = $1", [UNBORN]);
  await world.cycles();
  await world.sql("UPDATE salesforce.contact SET email = 'm@example.com'");
  await world.cycles(4);
  await world.sql("ALTER TABLE salesforce.contact ADD note text");
  await world.sql("UPDATE salesforce.contact SET note = 'of no mapped column'");
  await world.cycles();
  const refused = await rows("email, birthdate::text, _ab_lastop, _ab_err LIKE '%Birthdate%' AS says_why");

  await changeThere({ Title: "Dr" });
  await world.cycles();

  expect(refused).toEqual([{ email: "m@example.com", birthdate: UNBORN, _ab_lastop: "FAILED", says_why: true }]);
  expect(await rows("email, birthdate, title, _ab_lastop, _ab_err")).toEqual([
    { email: null, birthdate: null, title: "Dr", _ab_lastop: "SYNCED", _ab_err: null },
  ]);
});
