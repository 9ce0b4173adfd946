import { expect, test } from "vitest";
import { createProvisioner } from "../../../../lib/adapters/postgres/schema/provision.ts";
import type { TableShape } from "../../../../lib/model/mapping/shape.ts";
import { column, contactShape, mappingOf } from "../../../support/worlds/shapes.ts";
import { image, page, sfidOf } from "../customer.ts";
import { aCustomer, connection, customer, insert, log, rows, sql, typesOf } from "../world.ts";

/** A customer of a schema that has these tables, and whose mapping is not provisioned yet. */
async function withTables(text: string, shape: Partial<TableShape> = {}): Promise<void> {
  await aCustomer({ provisioned: false, shape: contactShape(shape) });
  await sql(`CREATE SCHEMA salesforce; ${text}`);
}

const PROVISIONED = { narrow: [], isNew: false, isCaptured: true, migration: null };

const TYPES = [
  [column("AccountId", { type: "reference", length: 18 }), "character varying(18)"],
  [column("At__c", { type: "datetime" }), "timestamp with time zone"],
  [column("Bio__c", { type: "textarea", length: 32_000 }), "text"],
  [column("Birthdate", { type: "date" }), "date"],
  [column("Count__c", { type: "int" }), "integer"],
  [column("Email", { type: "email", length: 80 }), "character varying(80)"],
  [column("Level__c", { type: "picklist", length: 40 }), "character varying(255)"],
  [column("Notes__c", { type: "textarea", length: 255 }), "character varying(255)"],
  [column("Salary__c", { type: "currency", precision: 18, scale: 2 }), "numeric"],
  [column("Tags__c", { type: "multipicklist", length: 4099 }), "character varying(4099)"],
  [column("Until__c", { type: "time" }), "time without time zone"],
] as const;

test("a new table has Salesforce's types, with exact decimals and instants that know their zone", async () => {
  await aCustomer({ shape: contactShape({ columns: TYPES.map(([mapped]) => mapped) }) });

  expect(await typesOf("salesforce.contact")).toEqual({
    id: "bigint",
    sfid: "character varying(18)",
    systemmodstamp: "timestamp with time zone",
    isdeleted: "boolean",
    _ab_lastop: "character varying(10)",
    _ab_err: "text",
    ...Object.fromEntries(TYPES.map(([mapped, type]) => [mapped.column, type])),
  });
});

test("provisioning again changes nothing, a new field adds its column, and an older configuration that arrives late undoes nothing", async () => {
  await aCustomer();
  await insert("Curie");

  const again = await customer.provision();
  const columns = [...customer.shape.columns, column("Phone", { type: "phone", length: 40 })];
  const more = await customer.provision({ configVersion: 2, columns, upsertField: "Key__c" });
  await customer.provision({ configVersion: 1 });
  await sql("UPDATE salesforce.contact SET phone = '1', key__c = 'K'");

  expect([again, more]).toEqual([PROVISIONED, PROVISIONED]);
  expect((await log('"values"')).at(-1)).toEqual({ values: { key__c: "K", phone: "1" } });
  await expect(sql("INSERT INTO salesforce.contact (key__c) VALUES ('K')")).rejects.toThrow(/contact_key__c_key/);
  const { begun } = await customer.cycle();
  expect(begun.lease.configVersion).toBe(2);
  expect(begun.shape.columns).toHaveLength(5);
});

test("two tables whose names and columns read the same together both get their indexes", async () => {
  await aCustomer({ shape: contactShape({ columns: [column("Group_Sfid")], upsertField: "Group_Sfid" }) });

  await customer.provision({
    mappingId: "map_group",
    sfObject: "Contact_Group__c",
    table: "contact_group",
    columns: [column("Name")],
    upsertField: null,
  });

  for (const column of ["contact_group (sfid)", "contact (group_sfid)", "contact (sfid)"]) {
    await sql(`INSERT INTO salesforce.${column} VALUES ('S')`);
    await expect(sql(`INSERT INTO salesforce.${column} VALUES ('S')`)).rejects.toThrow(/unique/);
  }
});

test("an existing table is adopted without touching its rows, its own key and column types included", async () => {
  await withTables(
    `CREATE TABLE salesforce.contact (person_no int PRIMARY KEY, email text, lastname varchar(10), at__c timestamp);
     INSERT INTO salesforce.contact VALUES (5, 'm@example.com', 'Curie', NULL), (6, NULL, 'Noether', NULL)`,
    {
      columns: [column("At__c", { type: "datetime" }), column("Email"), column("LastName"), column("Phone")],
      upsertField: "Email",
    },
  );

  const result = await customer.provision();
  const { store, lease } = await customer.cycle();
  const values = { email: "m@example.com", lastname: "Curie", phone: "1", at__c: "2026-03-01T05:30:00.000+05:30" };
  await store.apply(lease, page([image(1, 1, values)]));
  await sql("UPDATE salesforce.contact SET lastname = 'C.', at__c = at__c + interval '1 hour' WHERE person_no = 5");
  const [change] = await store.claim(lease, 10);

  expect(result).toEqual({ ...PROVISIONED, isNew: true });
  expect(await sql("SELECT * FROM salesforce.contact ORDER BY 1")).toMatchObject([
    { person_no: 5, sfid: sfidOf(1), phone: "1" },
    { person_no: 6, sfid: null, lastname: "Noether" },
  ]);
  expect(change).toMatchObject({
    recordId: 5,
    sfid: sfidOf(1),
    values: { lastname: "C.", at__c: "2026-03-01 01:00:00+00" },
    old: { lastname: "Curie", at__c: "2026-03-01 00:00:00+00" },
  });
});

test.each([
  ["a view", "CREATE VIEW salesforce.contact AS SELECT 1 AS id", /contact is a view/],
  ["a table without a key", "CREATE TABLE salesforce.contact (lastname text)", /no primary key of one integer column/],
  ["a table with a text key", "CREATE TABLE salesforce.contact (id text PRIMARY KEY)", /no primary key of one integer/],
  [
    "a partition",
    "CREATE TABLE p (id int PRIMARY KEY) PARTITION BY RANGE (id); CREATE TABLE salesforce.contact PARTITION OF p DEFAULT",
    /is a partition/,
  ],
  ["a log of another product", "CREATE TABLE salesforce._trigger_log (id serial PRIMARY KEY)", /Heroku Connect/],
])("%s is refused with the remedy, and the schema left as it is", async (_, make, refusal) => {
  await withTables(make);
  const relations = () => sql("SELECT relname FROM pg_class WHERE relnamespace = 'salesforce'::regnamespace");
  const before = await relations();

  const message = expect.stringMatching(refusal);
  await expect(customer.provision()).rejects.toMatchObject({ code: "CONFLICT", message });

  if (refusal.source === "Heroku Connect") expect(await relations()).toEqual(before);
});

test("duplicates in the upsert column are refused, and nothing half-built stays", async () => {
  await withTables(
    `CREATE TABLE salesforce.contact (id serial PRIMARY KEY, key__c text);
     INSERT INTO salesforce.contact (key__c) VALUES ('K'), ('K')`,
    { upsertField: "Key__c" },
  );

  const message = expect.stringMatching(/key__c holds values more than once/);
  await expect(customer.provision()).rejects.toMatchObject({ code: "CONFLICT", message });
  expect(Object.keys(await typesOf("salesforce.contact")).toSorted()).toEqual(["id", "key__c"]);
  expect(await sql("SELECT FROM pg_trigger WHERE tgrelid = 'salesforce.contact'::regclass")).toEqual([]);
  expect(await sql("SELECT FROM salesforce._bridge_state")).toEqual([]);
  await sql("UPDATE salesforce.contact SET key__c = 'L' WHERE id = 2");
  await customer.provision();

  await expect(sql("INSERT INTO salesforce.contact (key__c) VALUES ('K')")).rejects.toThrow(/duplicate key/);
});

test("names are quoted, whatever they hold, and refused when PostgreSQL would cut them or they are Bridge's own", async () => {
  await aCustomer({ provisioned: false, shape: contactShape({ table: `it's "the" %table;--` }) });
  await customer.provision();
  await sql(`INSERT INTO salesforce."it's ""the"" %table;--" (lastname) VALUES ('Curie')`);
  const { store, lease } = await customer.cycle();

  expect(await store.apply(lease, page([image(1, 1, { lastname: "Noether" })]))).toMatchObject({ inserted: 1 });
  expect(await store.claim(lease, 10)).toHaveLength(1);
  await expect(customer.provision({ table: "é".repeat(32) })).rejects.toThrow(/1 to 63 bytes; it has 64/);
  await expect(customer.provision({ table: "_bridge_state" })).rejects.toThrow(/Bridge's own/);
});

test("a second workspace is refused the schema of the first", async () => {
  await aCustomer();
  const other = createProvisioner(connection(), () => customer.now);
  const left = () =>
    sql(
      "SELECT workspace_id, mapping_id, config_version, shape FROM salesforce._bridge_meta, salesforce._bridge_state",
    );
  const before = await left();

  const refused = other.provision(mappingOf(customer.shape, "w_2"), { ...customer.shape, configVersion: 2 });

  const message = expect.stringMatching(/workspace w_1/);
  await expect(refused).rejects.toMatchObject({ code: "CONFLICT", message });
  expect(before).toMatchObject([{ workspace_id: "w_1", mapping_id: "map_contact" }]);
  expect(await left()).toEqual(before);
});

test("mappings that are provisioned at once, each several times, get their tables, and no call fails", async () => {
  await aCustomer({ provisioned: false });
  const account = { mappingId: "map_account", table: "account", sfObject: "Account" };

  await Promise.all([{}, account, {}, account, {}].map((more) => customer.provision(more)));
  await insert("Curie");

  expect(await log("id")).toHaveLength(1);
  expect(await sql("SELECT FROM salesforce._bridge_state")).toHaveLength(2);
});

test.each([false, true])(
  "the indexes that a mapping asks for are built, so that an application's ON CONFLICT works; the table is there: %s",
  async (isThere) => {
    const indexes = [
      { column: "key__c", unique: true },
      { column: "email", unique: false },
    ];
    await aCustomer({ shape: contactShape({ indexes: isThere ? [] : indexes }) });
    if (isThere) await customer.provision({ configVersion: 2, indexes });

    await sql(
      `INSERT INTO salesforce.contact (key__c, lastname) VALUES ('K', 'One'), ('L', 'Other')
     ON CONFLICT (key__c) DO UPDATE SET lastname = excluded.lastname`,
    );

    expect(
      await sql(
        `SELECT a.attname AS column, i.indisunique AS unique FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
       WHERE i.indrelid = 'salesforce.contact'::regclass AND a.attname IN ('key__c', 'email') ORDER BY 1 DESC`,
      ),
    ).toEqual(indexes);
    expect(await rows("lastname")).toHaveLength(2);
  },
);
