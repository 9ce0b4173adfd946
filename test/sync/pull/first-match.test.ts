import { expect, test } from "vitest";
import { firstInGate } from "../../support/run/whole-grid.ts";
import type { Row } from "../../support/worlds/sync-world.ts";
import { eachInAWorld, numbered, world } from "../world.ts";

eachInAWorld();

/** A table of the application's, and records of the same people; every third differs in two fields, one row says nothing. */
async function bothHave(people: number): Promise<void> {
  await world.createRecords(
    "Contact",
    numbered(people, "N").map((one, at) => ({
      ...one,
      External_Id__c: `K-${at}`,
      Email: `n${at}@theirs.example`,
      Description: "theirs",
    })),
  );
  await world.sql(`CREATE SCHEMA IF NOT EXISTS salesforce;
    CREATE TABLE salesforce.contact (id bigserial PRIMARY KEY, lastname varchar(80), email varchar(80), external_id__c varchar(64) UNIQUE, description text);
    INSERT INTO salesforce.contact (lastname, email, external_id__c, description)
    SELECT 'N' || n, CASE WHEN n % 3 = 0 THEN 'n' || n || '@ours.example' ELSE 'n' || n || '@theirs.example' END, 'K-' || n,
      CASE WHEN n = 0 THEN NULL WHEN n % 3 = 0 THEN 'ours' ELSE 'theirs ' END FROM generate_series(0, ${people - 1}) n`);
}
const FIELDS = ["LastName", "Email", "Description", "External_Id__c"];
const map = async (conflict_policy: string, more: Row = {}) => {
  await world.mapContact(FIELDS, { upsertField: "External_Id__c", bridge: { conflict_policy, ...more } });
};
/** Both sides' emails and descriptions, in the order of the people. */
const rows = async () => (await world.bothSides(FIELDS)).rows.map(({ Email, Description }) => [Email, Description]);
const records = async () =>
  (await world.bothSides(FIELDS)).records.map(({ Email, Description }) => [Email, Description]);
const conflictsOfFive = (winner: string) => [
  { field: "email", postgres: "n0@ours.example", salesforce: "n0@theirs.example", winner },
  { field: "email", postgres: "n3@ours.example", salesforce: "n3@theirs.example", winner },
  { field: "description", postgres: "ours", salesforce: "theirs", winner },
];

test.each(firstInGate(1, ["by the upsert field", "by the sfid that the application gave them"]))(
  "activating a mapping over a table with postgres_wins keeps the application's values and sends them, where rows meet records %s",
  async (how) => {
    await bothHave(5);
    if (how.includes("sfid")) {
      await world.sql("ALTER TABLE salesforce.contact ADD COLUMN sfid varchar(18)");
      for (const { Id, External_Id__c } of await world.soql("SELECT Id, External_Id__c FROM Contact"))
        await world.sql("UPDATE salesforce.contact SET sfid = $1 WHERE external_id__c = $2", [Id, External_Id__c]);
    }

    await map("postgres_wins");

    const expected = [
      ["n0@ours.example", "theirs"],
      ["n1@theirs.example", "theirs"],
      ["n2@theirs.example", "theirs"],
      ["n3@ours.example", "ours"],
      ["n4@theirs.example", "theirs"],
    ];
    expect(await rows()).toEqual(expected);
    expect(await world.changes('action, state, captured, "values"')).toEqual([
      { action: "UPDATE", state: "NEW", captured: "match", values: { email: "n0@ours.example" } },
      { action: "UPDATE", state: "NEW", captured: "match", values: { email: "n3@ours.example", description: "ours" } },
    ]);
    expect(await world.conflicts()).toEqual(conflictsOfFive("postgres"));
    await world.cycles(3);
    expect(await records()).toEqual(expected);
    expect(await world.states()).toEqual(["SUCCESS", "SUCCESS"]);
  },
);

const THEIRS: [string, Row?][] = [
  ["salesforce_wins"],
  ["latest_wins"],
  ["postgres_wins", { sync_direction: "sf_to_pg" }],
];

test.each(firstInGate(1, THEIRS))(
  "Salesforce's values win at the first match with %s, or where a mapping only reads, and each one that was overwritten is recorded, once",
  async (policy, more = {}) => {
    await bothHave(5);

    await map(policy, more);
    await world.cycles(3);
    await world.sql(
      "UPDATE salesforce._bridge_state SET position = NULL; UPDATE salesforce._bridge_loads SET load = NULL",
    );
    await world.work(world.contact, "load");
    await world.sweep();

    expect(await rows()).toEqual([0, 1, 2, 3, 4].map((n) => [`n${n}@theirs.example`, "theirs"]));
    expect(await world.changes('action, state, captured, "values"')).toEqual([]);
    expect(await world.conflicts()).toEqual(conflictsOfFive("salesforce"));
  },
);

test("a record that appears later meets the row of the same key by the policy, too", async () => {
  await bothHave(1);
  await map("postgres_wins");
  await world.settle();
  await world.writeUncaptured(
    "INSERT INTO salesforce.contact (lastname, external_id__c, email) VALUES ('Later', 'K-later', 'later@ours.example')",
  );
  await world.create("Later", { External_Id__c: "K-later", Email: "later@theirs.example" });

  await world.cycles(3);

  expect((await records()).map(([email]) => email)).toContain("later@ours.example");
});
