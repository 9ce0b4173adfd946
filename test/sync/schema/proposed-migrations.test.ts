import { expect, test } from "vitest";
import { handler as activateMapping } from "../../../functions/api/activate-mapping.ts";
import { handler as changePostgres } from "../../../functions/api/change-postgres.ts";
import { handler as deactivateMapping } from "../../../functions/api/deactivate-mapping.ts";
import { handler as deleteMapping } from "../../../functions/api/delete-mapping.ts";
import { handler as listProposals } from "../../../functions/api/list-proposals.ts";
import type { Proposal } from "../../../lib/model/mapping/migration.ts";
import { minutesLater } from "../../support/worlds/minute-later.ts";
import type { Row } from "../../support/worlds/sync-world.ts";
import { eachInAWorld, world } from "../world.ts";

eachInAWorld(async () => {
  await world.create("Curie", { Email: "marie@example.com" });
  await world.create("Hopper", { Email: "grace@example.com" });
  await world.sql("CREATE SCHEMA IF NOT EXISTS salesforce");
});

/** Readers see it within two seconds. */
const changesAre = async (schema_changes: string) => {
  await world.api.ask(changePostgres, "change-postgres", { body: { schema_changes } });
  await world.pass(3);
};
const proposals = () => world.ask<readonly (Proposal & { awaited: boolean })[]>(listProposals, "list-proposals");
const migrate = async () => {
  for (const { sql } of await proposals()) for (const statement of sql) await world.sql(statement);
};

async function aMinuteLater(): Promise<readonly Row[]> {
  const log = await minutesLater(world);
  world.contact = await world.mappingOf();
  return log;
}

/** The columns and the indexes of the table, as the catalog has them. */
const table = () =>
  world.sql(
    `SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS is FROM pg_attribute a
     WHERE a.attrelid = to_regclass('salesforce.contact') AND a.attnum > 0 AND NOT a.attisdropped
     UNION ALL SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'salesforce' AND tablename = 'contact'
     ORDER BY 1, 2`,
  );
const expectEqual = async () => {
  const { rows, records } = await world.bothSides();
  expect(rows).toEqual(records);
  return rows;
};
const OWN_KEY = ["Email", "External_Id__c", "LastName"];
const UPSERT = { upsertField: "External_Id__c" };
/** Makes the mapping follow a table that was changed. */
async function activateAgain(): Promise<void> {
  await world.api.ask(deactivateMapping, "deactivate-mapping", { path: { mapping_id: world.contact.id } });
  await world.api.ask(activateMapping, "activate-mapping", { path: { mapping_id: world.contact.id } });
  await world.carryOut();
}

test("a table of the application's is not altered: the mapping waits, says for what, and continues once it is migrated", async () => {
  await world.sql("CREATE TABLE salesforce.contact (id bigserial PRIMARY KEY, email text, note text)");
  await changesAre("propose");
  const before = await table();
  await world.mapContact(OWN_KEY, UPSERT);

  expect(await table()).toEqual(before);
  expect(await world.shownContact()).toMatchObject({
    state: "migration_pending",
    reason: expect.stringMatching(
      /^table salesforce\.contact lacks the columns sfid, systemmodstamp, isdeleted, _ab_lastop, _ab_err, external_id__c, lastname and indexes on sfid, external_id__c; run the migration that bridge schema propose prints/,
    ),
  });
  expect(await proposals()).toEqual([
    {
      mapping_id: world.contact.id,
      sf_object: "Contact",
      schema: "salesforce",
      table: "contact",
      awaited: true,
      create: false,
      columns: [
        { column: "sfid", type: "varchar(18)" },
        { column: "systemmodstamp", type: "timestamptz" },
        { column: "isdeleted", type: "boolean" },
        { column: "_ab_lastop", type: "varchar(10)" },
        { column: "_ab_err", type: "text" },
        { column: "external_id__c", type: "varchar(64)" },
        { column: "lastname", type: "varchar(80)" },
      ],
      wider: [],
      indexes: [
        { name: "contact_sfid_key", column: "sfid", unique: true },
        { name: "contact_external_id__c_key", column: "external_id__c", unique: true },
      ],
      sql: [
        'ALTER TABLE "salesforce"."contact" ADD COLUMN "sfid" varchar(18), ADD COLUMN "systemmodstamp" timestamptz, ADD COLUMN "isdeleted" boolean, ADD COLUMN "_ab_lastop" varchar(10), ADD COLUMN "_ab_err" text, ADD COLUMN "external_id__c" varchar(64), ADD COLUMN "lastname" varchar(80)',
        'CREATE UNIQUE INDEX CONCURRENTLY "contact_sfid_key" ON "salesforce"."contact" ("sfid")',
        'CREATE UNIQUE INDEX CONCURRENTLY "contact_external_id__c_key" ON "salesforce"."contact" ("external_id__c")',
      ],
    },
  ]);

  // While it waits the org is not asked each minute, and the minute sweep does not call it lost.
  const calls = await world.calls();
  expect(await aMinuteLater()).toEqual([]);
  expect(await world.calls()).toBe(calls);

  // Half of the migration is not enough, and what is left is said.
  const [columns] = (await proposals()).flatMap(({ sql }) => sql);
  await world.sql(String(columns));
  await aMinuteLater();
  expect(await world.shownContact()).toMatchObject({
    state: "migration_pending",
    reason: expect.stringContaining("salesforce.contact lacks indexes on sfid, external_id__c;"),
  });

  await migrate();
  const migrated = await table();
  await aMinuteLater();
  await world.sql("INSERT INTO salesforce.contact (lastname, email) VALUES ('Lovelace', 'ada@example.com')");
  const [marked] = await world.sql("SELECT _ab_lastop FROM salesforce.contact WHERE lastname = 'Lovelace'");
  await world.cycles();

  expect(marked).toEqual({ _ab_lastop: "PENDING" });
  expect(await world.shownContact()).toMatchObject({ state: "running", reason: null });
  expect(await proposals()).toEqual([]);
  expect(await table()).toEqual(migrated);
  expect(await expectEqual()).toHaveLength(3);

  await world.api.ask(deleteMapping, "delete-mapping", { path: { mapping_id: world.contact.id } });
  await world.carryOut();
  expect(await table()).toEqual(migrated);
});

test("the migration of a missing table makes what Bridge would make", async () => {
  await world.mapContact(OWN_KEY, UPSERT);
  const made = await table();
  await changesAre("propose");
  await world.sql("DROP TABLE salesforce.contact");
  await activateAgain();
  expect(await world.shownContact()).toMatchObject({
    reason: expect.stringContaining("table salesforce.contact is missing;"),
  });
  await migrate();

  expect(await table()).toEqual(made);
  await aMinuteLater();
  await world.cycles();
  await expectEqual();
});

test("a field that has grown holds nothing up: its wider column is proposed until the column has it", async () => {
  await world.mapContact(["Email", "LastName"]);
  await changesAre("propose");
  await world.sql("ALTER TABLE salesforce.contact ALTER COLUMN lastname TYPE varchar(20)");
  await world.sql(
    `UPDATE salesforce._bridge_state SET shape = jsonb_set(shape, '{columns}', (
       SELECT jsonb_agg(CASE WHEN c ->> 'column' = 'lastname' THEN c || '{"length": 20}' ELSE c END)
       FROM jsonb_array_elements(shape -> 'columns') c))`,
  );
  const before = await table();
  await world.describeDaily();
  await world.cycles();

  expect(await table()).toEqual(before);
  expect(await world.shownContact()).toMatchObject({ state: "running", reason: null });
  expect(await proposals()).toMatchObject([
    {
      awaited: false,
      columns: [],
      indexes: [],
      wider: [{ column: "lastname", type: "varchar(80)" }],
      sql: ['ALTER TABLE "salesforce"."contact" ALTER COLUMN "lastname" TYPE varchar(80)'],
    },
  ]);

  await migrate();
  expect(await proposals()).toEqual([]);
  await world.describeDaily();
  expect(world.contact.provisioning).toEqual({ state: "ready", version: world.contact.configVersion });
  await world.create("Wolfeschlegelsteinhausenbergerdorff");
  await world.cycles();
  await expectEqual();
});
