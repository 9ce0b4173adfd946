import { describe, expect, test } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { firstInGate, longTest } from "../../support/run/whole-grid.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest((made) => {
  ({ world } = made);
});

const FIELDS = ["Description", "Email", "External_Id__c", "LastName"];

/** A table of the application's, and records of the same people; every third differs in two fields, one row says nothing. */
async function bothHave(people: number): Promise<void> {
  await world.createRecords(
    "Contact",
    Array.from({ length: people }, (_, at) => ({
      LastName: `N${at}`,
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
const map = async (policy: string, more = {}) => {
  contact = await mapped(world, {
    object: "Contact",
    fields: FIELDS,
    upsertField: "External_Id__c",
    bridge: { conflict_policy: policy },
    ...more,
  });
};
const rows = () =>
  world.sql(
    "SELECT external_id__c, email, description, sfid IS NOT NULL AS linked FROM salesforce.contact ORDER BY id",
  );
const records = () => world.soql("SELECT External_Id__c, Email, Description FROM Contact ORDER BY LastName");
const log = () => world.sql('SELECT action, state, captured, "values" FROM salesforce._trigger_log ORDER BY id');
const conflicts = () =>
  world.sql("SELECT field, postgres, salesforce, winner FROM salesforce._bridge_conflicts ORDER BY id");

test("activating a mapping over a table with postgres_wins keeps the application's values and sends them", async () => {
  await bothHave(5);

  await map("postgres_wins");

  expect((await rows()).map(({ email, description, linked }) => [email, description, linked])).toEqual([
    ["n0@ours.example", "theirs", true],
    ["n1@theirs.example", "theirs", true],
    ["n2@theirs.example", "theirs", true],
    ["n3@ours.example", "ours", true],
    ["n4@theirs.example", "theirs", true],
  ]);
  expect(await log()).toEqual([
    { action: "UPDATE", state: "NEW", captured: "match", values: { email: "n0@ours.example" } },
    { action: "UPDATE", state: "NEW", captured: "match", values: { email: "n3@ours.example", description: "ours" } },
  ]);
  expect(await conflicts()).toEqual([
    { field: "email", postgres: "n0@ours.example", salesforce: "n0@theirs.example", winner: "postgres" },
    { field: "email", postgres: "n3@ours.example", salesforce: "n3@theirs.example", winner: "postgres" },
    { field: "description", postgres: "ours", salesforce: "theirs", winner: "postgres" },
  ]);
  for (let i = 0; i < 3; i++) await world.cycle(contact);
  expect((await records()).map(({ Email, Description }) => [Email, Description])).toEqual([
    ["n0@ours.example", "theirs"],
    ["n1@theirs.example", "theirs"],
    ["n2@theirs.example", "theirs"],
    ["n3@ours.example", "ours"],
    ["n4@theirs.example", "theirs"],
  ]);
  expect((await log()).map(({ state }) => state)).toEqual(["SUCCESS", "SUCCESS"]);
});

describe.each(firstInGate(1, ["salesforce_wins", "latest_wins"]))("with %s", (policy) => {
  test("Salesforce's values win at the first match, and each one that was overwritten is recorded", async () => {
    await bothHave(5);

    await map(policy);
    for (let i = 0; i < 2; i++) await world.cycle(contact);

    expect((await rows()).map(({ email, description }) => [email, description])).toEqual(
      [0, 1, 2, 3, 4].map((n) => [`n${n}@theirs.example`, "theirs"]),
    );
    expect(await log()).toEqual([]);
    expect(await conflicts()).toEqual([
      { field: "email", postgres: "n0@ours.example", salesforce: "n0@theirs.example", winner: "salesforce" },
      { field: "email", postgres: "n3@ours.example", salesforce: "n3@theirs.example", winner: "salesforce" },
      { field: "description", postgres: "ours", salesforce: "theirs", winner: "salesforce" },
    ]);
  });
});

longTest("a mapping that only reads takes Salesforce's values whatever its policy says, and records them", async () => {
  await bothHave(4);

  await map("postgres_wins", { bridge: { conflict_policy: "postgres_wins", sync_direction: "sf_to_pg" } });

  expect((await rows()).map(({ email }) => email)).toEqual([0, 1, 2, 3].map((n) => `n${n}@theirs.example`));
  expect((await conflicts()).map(({ winner }) => winner)).toEqual(["salesforce", "salesforce", "salesforce"]);
});

longTest("a load that is started again records no conflict and queues no change twice", async () => {
  await bothHave(300);
  await map("salesforce_wins");
  const before = { conflicts: await conflicts(), log: await log() };
  expect(before.conflicts).toHaveLength(199);

  await world.sql(
    "UPDATE salesforce._bridge_state SET position = NULL; UPDATE salesforce._bridge_loads SET load = NULL",
  );
  await world.work(contact, "load");
  await world.work(contact, "sweep");

  expect({ conflicts: await conflicts(), log: await log() }).toEqual(before);
});

longTest(
  "a row that the application changes while it waits for its first match is merged with what was captured",
  async () => {
    await bothHave(1);
    await map("postgres_wins", { bridge: { conflict_policy: "postgres_wins", active: false } });
    await world.sql("UPDATE salesforce.contact SET description = 'changed since'");

    await map("postgres_wins", { bridge: { conflict_policy: "postgres_wins", active: true } });
    for (let i = 0; i < 3; i++) await world.cycle(contact);

    expect(await records()).toEqual([
      { External_Id__c: "K-0", Email: "n0@ours.example", Description: "changed since" },
    ]);
  },
);

test("a record that appears later meets the row of the same key by the policy, too", async () => {
  await bothHave(1);
  await map("postgres_wins");
  await world.sql("UPDATE salesforce.contact SET description = NULL WHERE FALSE");
  await world.pass(3600);
  await world.cycle(contact, "pull");
  await world.sql("ALTER TABLE salesforce.contact DISABLE TRIGGER USER");
  await world.sql(
    "INSERT INTO salesforce.contact (lastname, external_id__c, email) VALUES ('Later', 'K-later', 'later@ours.example')",
  );
  await world.sql("ALTER TABLE salesforce.contact ENABLE TRIGGER USER");
  await world.rest("POST", "/sobjects/Contact", {
    LastName: "Later",
    External_Id__c: "K-later",
    Email: "later@theirs.example",
  });

  for (let i = 0; i < 3; i++) await world.cycle(contact);

  expect((await records()).map(({ Email }) => Email)).toContain("later@ours.example");
});

longTest("rows that were given their sfid by the application meet their records by the policy", async () => {
  await bothHave(3);
  await world.sql("ALTER TABLE salesforce.contact ADD COLUMN sfid varchar(18)");
  for (const { Id, External_Id__c } of await world.soql("SELECT Id, External_Id__c FROM Contact"))
    await world.sql("UPDATE salesforce.contact SET sfid = $1 WHERE external_id__c = $2", [Id, External_Id__c]);

  await map("postgres_wins");
  for (let i = 0; i < 3; i++) await world.cycle(contact);

  expect((await records()).map(({ Email }) => Email)).toEqual([
    "n0@ours.example",
    "n1@theirs.example",
    "n2@theirs.example",
  ]);
});
