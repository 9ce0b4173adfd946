import { expect, test } from "vitest";
import { handler as captureMapping } from "../../../functions/api/capture-mapping.ts";
import { handler as readHealth } from "../../../functions/api/read-health.ts";
import { handler as readMapping } from "../../../functions/api/read-mapping.ts";
import { handler as testPostgres } from "../../../functions/api/test-postgres.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { type ApiClient, apiClient } from "../../support/clients/api-client.ts";
import { dataOf } from "../../support/clients/data-of.ts";
import { firstInGate } from "../../support/run/whole-grid.ts";
import { carryOut } from "../../support/worlds/carry-out.ts";
import type { Row, SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";
import { bothSides, newEvents } from "../world.ts";

/** What the application does to a mapped table, and what becomes of its mapping and of the values. */

let world: SyncWorld;
let contact: Mapping;
let api: ApiClient;
aWorldForEachTest(async (made) => {
  world = made.world;
  api = await apiClient(world.workspaceId);
});

const FIELDS = ["LastName", "Title", "Email"];
async function twoPeople(more: object = {}): Promise<void> {
  await world.createRecords("Contact", [
    { LastName: "Curie", Title: "Dr", Email: "marie@example.com" },
    { LastName: "Hopper", Title: "Ms", Email: "grace@example.com" },
  ]);
  contact = await mapped(world, { object: "Contact", fields: FIELDS, ...more });
  await world.pass(1_200);
  await world.cycle(contact);
  await newEvents(world);
}

const shown = async () => dataOf<Row>(await api.ask(readMapping, "read-mapping", { path: { mapping_id: contact.id } }));
const health = async () => dataOf<{ sync: { status: string } }>(await api.ask(readHealth, "read-health")).sync.status;
/** What `bridge doctor` finds in the database. */
const doctor = async () =>
  dataOf<{ findings: readonly { ok: boolean; message: string; remedy: string | null }[] }>(
    await api.ask(testPostgres, "test-postgres"),
  ).findings.filter(({ ok }) => !ok);

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
    await world.rest("POST", "/sobjects/Contact", { LastName: "Lovelace", Email: "ada@example.com" });
    for (let i = 0; i < 4; i++) await world.cycle(contact);
    for (const kind of ["sweep", "load", "backfill"] as const) await world.work(contact, kind);
    await write("grace@yale.example");

    const message = expect.stringContaining(says);
    expect(await newEvents(world)).toMatchObject([
      { event: "sync.broken", detail: { mapping_id: contact.id, reason, message, failed_cycles: 1 } },
    ]);
    expect(await shown()).toMatchObject({ state: "broken", failure: reason, reason: message });
    expect(await health()).toBe("broken");
    expect(await doctor()).toMatchObject([
      {
        message: says.replace("salesforce.contact", "contact"),
        remedy: expect.stringMatching(/deactivate \S+ mapping and activate it|deactivate and activate the mapping/),
      },
    ]);

    await world.sql(back);
    for (let i = 0; i < 2; i++) await world.cycle(contact);
    const { rows, records } = await bothSides(world, FIELDS);
    expect(rows).toEqual(records);
    expect(rows.map(({ Email }) => Email)).toEqual(["marie@example.com", "grace@yale.example", "ada@example.com"]);
    expect((await newEvents(world)).map(({ event }) => event)).toEqual(["sync.recovered"]);
    expect(await health()).toBe("running");
  },
);

/** As long as it takes until nothing is read any more. */
async function settle(): Promise<void> {
  for (let cycle = 0; cycle < 3; cycle += 1) {
    await world.pass(10);
    await world.cycle(contact);
    await world.work(contact, "load");
  }
}

const dropAndAdd = (type: string) =>
  world.sql(
    `ALTER TABLE salesforce.contact DROP COLUMN title; ALTER TABLE salesforce.contact ADD COLUMN title ${type}`,
  );
const titles = async () => {
  const { rows, records } = await bothSides(world, FIELDS);
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
    contact = await mapped(world, { object: "Contact", fields: FIELDS, ...more, ...change });

    await settle();

    expect(await titles()).toEqual([THEIRS, THEIRS]);
    expect(await world.sql("SELECT FROM salesforce._trigger_log")).toEqual([]);
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

test.each(firstInGate(1, CHOICES))(
  "where it holds values that nothing captured a person decides: --%s",
  async (uncaptured, conflict_policy, decided) => {
    await twoPeople({ bridge: { conflict_policy } });
    await dropAndAdd("varchar(128) DEFAULT 'new'");

    await settle();

    expect(await shown()).toMatchObject({
      reason: expect.stringMatching(/title of table salesforce.contact was dropped and added again/),
    });
    expect(await titles()).toEqual([["new", "new"], THEIRS]);

    const path = { mapping_id: contact.id };
    dataOf(await api.ask(captureMapping, "capture-mapping", { path, body: { uncaptured } }));
    await carryOut(world.cloud, world.services);
    contact = (await world.mappings())[0] ?? contact;
    await settle();

    expect(await titles()).toEqual([decided, decided]);
  },
);
