import { expect, test } from "vitest";
import { handler as captureMapping } from "../../../functions/api/capture-mapping.ts";
import { handler as testPostgres } from "../../../functions/api/test-postgres.ts";
import { firstInGate, longTest } from "../../support/run/whole-grid.ts";
import { eachInAWorld, world } from "../world.ts";

/** What the application does to a mapped table, and the effect on its mapping and on the values. */

eachInAWorld();

const FIELDS = ["LastName", "Title", "Email"];
async function twoPeople(more: object = {}): Promise<void> {
  await world.create("Curie", { Title: "Dr", Email: "marie@example.com" });
  await world.create("Hopper", { Title: "Ms", Email: "grace@example.com" });
  await world.mapContact(FIELDS, more);
  await world.pass(1_200);
  await world.cycles();
  await world.newEvents();
}

/** What `bridge doctor` finds in the database. */
const doctor = async () => {
  const { findings } = await world.ask<{ findings: readonly { ok: boolean }[] }>(testPostgres, "test-postgres");
  return findings.filter(({ ok }) => !ok);
};

test.each([
  {
    what: "a mapped column is renamed",
    away: "ALTER TABLE salesforce.contact RENAME COLUMN lastname TO surname",
    back: "ALTER TABLE salesforce.contact RENAME COLUMN surname TO lastname",
    reason: "column_gone",
    says: "column lastname of table salesforce.contact is gone",
  },
  {
    what: "the table is renamed",
    away: "ALTER TABLE salesforce.contact RENAME TO person",
    back: "ALTER TABLE salesforce.person RENAME TO contact",
    reason: "table_gone",
    says: "table salesforce.contact is gone: it is salesforce.person now",
  },
])(
  "while $what the application writes on, the mapping is broken and says why, and nothing is lost once it is back",
  async ({ away, back, reason, says }) => {
    await twoPeople();
    const table = reason === "table_gone" ? "person" : "contact";
    const write = (email: string) =>
      world.sql(`UPDATE salesforce.${table} SET email = '${email}' WHERE email LIKE 'grace%'`);
    await world.sql(away);

    await write("grace@navy.example");
    await world.create("Lovelace", { Email: "ada@example.com" });
    await world.cycles(4);
    for (const kind of ["sweep", "load", "backfill"] as const) await world.work(world.contact, kind);
    await write("grace@yale.example");

    const message = expect.stringContaining(says);
    expect(await world.newEvents()).toMatchObject([
      { event: "sync.broken", detail: { mapping_id: world.contact.id, reason, message, failed_cycles: 1 } },
    ]);
    expect(await world.shownContact()).toMatchObject({ state: "broken", failure: reason, reason: message });
    expect(await world.health()).toBe("broken");
    expect(await doctor()).toMatchObject([
      {
        message: says.replace("salesforce.contact", "contact"),
        remedy: expect.stringMatching(/deactivate \S+ mapping and activate it|deactivate and activate the mapping/),
      },
    ]);

    await world.sql(back);
    await world.cycles(2);
    const { rows, records } = await world.bothSides(FIELDS);
    expect(rows).toEqual(records);
    expect(rows.map(({ Email }) => Email)).toEqual(["marie@example.com", "grace@yale.example", "ada@example.com"]);
    expect(await world.eventNames()).toEqual(["sync.recovered"]);
    expect(await world.health()).toBe("running");
  },
);

/** As long as it takes until nothing is read any more. */
async function settle(): Promise<void> {
  for (let cycle = 0; cycle < 3; cycle += 1) {
    await world.pass(10);
    await world.cycles();
    await world.work(world.contact, "load");
  }
}

const dropAndAdd = (type: string) =>
  world.sql(
    `ALTER TABLE salesforce.contact DROP COLUMN title; ALTER TABLE salesforce.contact ADD COLUMN title ${type}`,
  );
const titles = async () => {
  const { rows, records } = await world.bothSides(FIELDS);
  return [rows.map(({ Title }) => Title), records.map(({ Title }) => Title)];
};
const THEIRS = ["Dr", "Ms"];

const KINDS = [
  ["where PostgreSQL wins", { bridge: { conflict_policy: "postgres_wins" } }, {}],
  ["from Salesforce", { bridge: { sync_direction: "sf_to_pg" } }, {}],
  ["where the mapping is changed before any cycle has seen it", {}, { pollingSeconds: 20 }],
] as const;

test.each(firstInGate(1, KINDS))(
  "a column that is dropped and added again is filled from Salesforce, %s",
  async (_, more, change) => {
    await twoPeople(more);
    await dropAndAdd("varchar(128)");
    await world.mapContact(FIELDS, { ...more, ...change });

    await settle();

    expect(await titles()).toEqual([THEIRS, THEIRS]);
    expect(await world.changes()).toEqual([]);
  },
);

test("what the application writes into it at once is sent, and the other rows are filled", async () => {
  await twoPeople();
  await dropAndAdd("varchar(128)");
  await world.sql("UPDATE salesforce.contact SET title = 'Professor' WHERE lastname = 'Curie'");

  await settle();

  expect(await titles()).toEqual([
    ["Professor", "Ms"],
    ["Professor", "Ms"],
  ]);
});

const CHOICES = [
  ["salesforce", "salesforce_wins", THEIRS],
  ["mine", "postgres_wins", ["new", "new"]],
] as const;

longTest.each(firstInGate(1, CHOICES))(
  "where it holds values that nothing captured a person decides: --%s",
  async (uncaptured, conflict_policy, decided) => {
    await twoPeople({ bridge: { conflict_policy } });
    await dropAndAdd("varchar(128) DEFAULT 'new'");

    await settle();

    expect(await world.shownContact()).toMatchObject({
      reason: expect.stringMatching(/title of table salesforce.contact was dropped and added again/),
    });
    expect(await titles()).toEqual([["new", "new"], THEIRS]);

    const path = { mapping_id: world.contact.id };
    await world.ask(captureMapping, "capture-mapping", { path, body: { uncaptured } });
    await world.carryOut();
    await settle();

    expect(await titles()).toEqual([decided, decided]);
  },
);
