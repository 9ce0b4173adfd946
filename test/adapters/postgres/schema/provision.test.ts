import { afterEach, expect, test } from "vitest";
import { createProvisioner } from "../../../../lib/adapters/postgres/schema/provision.ts";
import { longTest } from "../../../support/run/whole-grid.ts";
import { column, contactShape, mappingOf } from "../../../support/worlds/shapes.ts";
import { type Customer, createCustomer, image, orgTime, page, sfidOf } from "../customer.ts";

let customer: Customer;
afterEach(() => customer.close());

const columnsOf = async (table: string) =>
  Object.fromEntries(
    (
      await customer.sql(
        "SELECT attname, format_type(atttypid, atttypmod) AS type FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
        [table],
      )
    ).map(({ attname, type }) => [attname, type]),
  );

test("a new table has Salesforce's types, with exact decimals and instants that know their zone", async () => {
  customer = await createCustomer({
    shape: contactShape({
      columns: [
        column("AccountId", { type: "reference", length: 18 }),
        column("At__c", { type: "datetime" }),
        column("Bio__c", { type: "textarea", length: 32_000 }),
        column("Birthdate", { type: "date" }),
        column("Count__c", { type: "int" }),
        column("Email", { type: "email", length: 80 }),
        column("Level__c", { type: "picklist", length: 40 }),
        column("Notes__c", { type: "textarea", length: 255 }),
        column("Salary__c", { type: "currency", precision: 18, scale: 2 }),
        column("Tags__c", { type: "multipicklist", length: 4099 }),
        column("Until__c", { type: "time" }),
      ],
    }),
  });

  expect(await columnsOf("salesforce.contact")).toEqual({
    id: "bigint",
    sfid: "character varying(18)",
    systemmodstamp: "timestamp with time zone",
    isdeleted: "boolean",
    _ab_lastop: "character varying(10)",
    _ab_err: "text",
    accountid: "character varying(18)",
    at__c: "timestamp with time zone",
    bio__c: "text",
    birthdate: "date",
    count__c: "integer",
    email: "character varying(80)",
    level__c: "character varying(255)",
    notes__c: "character varying(255)",
    salary__c: "numeric",
    tags__c: "character varying(4099)",
    until__c: "time without time zone",
  });
});

test("provisioning again changes nothing, and a new field adds its column", async () => {
  customer = await createCustomer();
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");

  const again = await customer.provision();
  const more = await customer.provision({
    configVersion: 2,
    columns: [...customer.shape.columns, column("Phone", { type: "phone", length: 40 })],
    upsertField: "Key__c",
  });
  await customer.sql("UPDATE salesforce.contact SET phone = '1', key__c = 'K'");

  expect(again).toEqual({ narrow: [], isNew: false, isCaptured: true, migration: null });
  expect(more).toEqual({ narrow: [], isNew: false, isCaptured: true, migration: null });
  expect(await customer.sql('SELECT "values" FROM salesforce._trigger_log ORDER BY id DESC LIMIT 1')).toEqual([
    { values: { key__c: "K", phone: "1" } },
  ]);
  await expect(customer.sql("INSERT INTO salesforce.contact (key__c) VALUES ('K')")).rejects.toThrow(
    /contact_key__c_key/,
  );
});

longTest(
  "two tables whose names and columns read the same together both get their indexes, and keep them",
  async () => {
    customer = await createCustomer({
      shape: contactShape({ columns: [column("Group_Sfid"), column("LastName")], upsertField: "Group_Sfid" }),
    });
    const other = { mappingId: "map_group", sfObject: "Contact_Group__c", table: "contact_group", upsertField: null };

    await customer.provision({ ...other, columns: [column("Name")] });
    await customer.provision({ ...other, columns: [column("Name")] });
    await customer.provision({ configVersion: 2 });

    expect(
      await customer.sql(
        "SELECT tablename, count(*)::int AS indexes FROM pg_indexes WHERE tablename LIKE 'contact%' GROUP BY 1 ORDER BY 1",
      ),
    ).toEqual([
      { tablename: "contact", indexes: 3 },
      { tablename: "contact_group", indexes: 2 },
    ]);
    await customer.sql("INSERT INTO salesforce.contact_group (sfid) VALUES ('S')");
    await expect(customer.sql("INSERT INTO salesforce.contact_group (sfid) VALUES ('S')")).rejects.toThrow(/unique/);
  },
);

test("an older configuration that arrives late undoes nothing", async () => {
  customer = await createCustomer({ provisioned: false });
  const columns = [...customer.shape.columns, column("Phone")];
  await customer.provision({ configVersion: 2, columns });

  await customer.provision({ configVersion: 1 });

  const { begun } = await customer.cycle();
  expect(begun.lease.configVersion).toBe(2);
  expect(begun.shape.columns).toHaveLength(5);
});

test("an existing table is adopted without touching its rows, its own key and column types included", async () => {
  customer = await createCustomer({
    provisioned: false,
    shape: contactShape({
      columns: [column("At__c", { type: "datetime" }), column("Email"), column("LastName"), column("Phone")],
      upsertField: "Email",
    }),
  });
  await customer.sql("CREATE SCHEMA salesforce");
  await customer.sql(
    "CREATE TABLE salesforce.contact (person_no int PRIMARY KEY, email text, lastname varchar(10), at__c timestamp)",
  );
  await customer.sql(
    "INSERT INTO salesforce.contact VALUES (5, 'm@example.com', 'Curie', NULL), (6, NULL, 'Noether', NULL)",
  );

  const result = await customer.provision();
  const { store, lease } = await customer.cycle();
  const values = { email: "m@example.com", lastname: "Curie", phone: "1", at__c: "2026-03-01T05:30:00.000+05:30" };
  await store.apply(lease, page([image(1, 1, values)]));
  await customer.sql(
    "UPDATE salesforce.contact SET lastname = 'C.', at__c = at__c + interval '1 hour' WHERE person_no = 5",
  );
  const [change] = await store.claim(lease, 10);

  expect(result).toEqual({ narrow: [], isNew: true, isCaptured: true, migration: null });
  expect(await customer.sql("SELECT * FROM salesforce.contact ORDER BY 1")).toMatchObject([
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
])("%s is refused with the remedy", async (_, make, refusal) => {
  customer = await createCustomer({ provisioned: false });
  await customer.sql("CREATE SCHEMA salesforce");
  await customer.sql(make);

  await expect(customer.provision()).rejects.toMatchObject({
    code: "CONFLICT",
    message: expect.stringMatching(refusal),
  });
});

test("duplicates in the upsert column are refused, and nothing half-built stays", async () => {
  customer = await createCustomer({ provisioned: false, shape: contactShape({ upsertField: "Key__c" }) });
  await customer.sql("CREATE SCHEMA salesforce");
  await customer.sql("CREATE TABLE salesforce.contact (id serial PRIMARY KEY, key__c text)");
  await customer.sql("INSERT INTO salesforce.contact (key__c) VALUES ('K'), ('K')");

  await expect(customer.provision()).rejects.toMatchObject({
    code: "CONFLICT",
    message: expect.stringMatching(/key__c holds values more than once/),
  });
  const built = await customer.sql(
    `SELECT attname FROM pg_attribute WHERE attrelid = 'salesforce.contact'::regclass AND attnum > 0 ORDER BY 1`,
  );
  expect(built.map(({ attname }) => attname)).toEqual(["id", "key__c"]);
  expect(await customer.sql("SELECT FROM pg_trigger WHERE tgrelid = 'salesforce.contact'::regclass")).toEqual([]);
  expect(await customer.sql("SELECT FROM salesforce._bridge_state")).toEqual([]);
  await customer.sql("UPDATE salesforce.contact SET key__c = 'L' WHERE id = 2");
  await customer.provision();

  await expect(customer.sql("INSERT INTO salesforce.contact (key__c) VALUES ('K')")).rejects.toThrow(/duplicate key/);
});

test("names are quoted, whatever they hold, and refused when PostgreSQL would cut them or they are Bridge's own", async () => {
  customer = await createCustomer({ provisioned: false, shape: contactShape({ table: `it's "the" %table;--` }) });
  await customer.provision();
  await customer.sql(`INSERT INTO salesforce."it's ""the"" %table;--" (lastname) VALUES ('Curie')`);
  const { store, lease } = await customer.cycle();
  const applied = await store.apply(lease, page([image(1, 1, { lastname: "Noether" })]));

  expect(applied.inserted).toBe(1);
  expect(await store.claim(lease, 10)).toHaveLength(1);
  await expect(customer.provision({ table: "é".repeat(32) })).rejects.toThrow(/1 to 63 bytes; it has 64/);
  await expect(customer.provision({ table: "_bridge_state" })).rejects.toThrow(/Bridge's own/);
  await expect(customer.provision({ table: "_trigger_log" })).rejects.toThrow(/Bridge's own/);
});

test("a second workspace is refused the schema of the first", async () => {
  customer = await createCustomer();
  const other = createProvisioner({ url: customer.url, schema: "salesforce" }, () => customer.now);

  const kept = () =>
    customer.sql(
      "SELECT workspace_id, schema_version, mapping_id, config_version, shape FROM salesforce._bridge_meta, salesforce._bridge_state",
    );
  const before = await kept();

  const refused = other.provision(mappingOf(customer.shape, "w_2"), { ...customer.shape, configVersion: 2 });

  await expect(refused).rejects.toMatchObject({ code: "CONFLICT", message: expect.stringMatching(/workspace w_1/) });
  expect(before).toMatchObject([{ workspace_id: "w_1", mapping_id: "map_contact" }]);
  expect(await kept()).toEqual(before);
});

test("a schema that another product logs in is refused, and left as it is", async () => {
  customer = await createCustomer({ provisioned: false });
  await customer.sql("CREATE SCHEMA salesforce");
  await customer.sql("CREATE TABLE salesforce._trigger_log (id serial PRIMARY KEY, old text)");

  await expect(customer.provision()).rejects.toMatchObject({
    code: "CONFLICT",
    message: expect.stringMatching(/Heroku Connect/),
  });
  expect(
    await customer.sql(
      "SELECT relname FROM pg_class WHERE relnamespace = 'salesforce'::regnamespace AND relkind = 'r'",
    ),
  ).toEqual([{ relname: "_trigger_log" }]);
});

longTest("two provisionings at once end with one schema", async () => {
  customer = await createCustomer({ provisioned: false });

  await Promise.all([
    customer.provision(),
    customer.provision({ mappingId: "map_account", table: "account" }),
    customer.provision({ mappingId: "map_lead", table: "lead" }),
  ]);

  expect(await customer.sql("SELECT mapping_id FROM salesforce._bridge_state ORDER BY 1")).toHaveLength(3);
});

test("a mapping that is provisioned several times at once gets its table, and no call fails", async () => {
  customer = await createCustomer({ provisioned: false });

  await Promise.all([1, 2, 3, 4].map(() => customer.provision()));
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");

  expect(await customer.sql("SELECT FROM salesforce._trigger_log")).toHaveLength(1);
});

test("a retired mapping captures nothing more, and its rows stay", async () => {
  customer = await createCustomer();
  const { store } = await customer.cycle();
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");

  await customer.retire();
  await customer.retire();
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Noether')");

  expect(await customer.sql("SELECT lastname FROM salesforce.contact")).toHaveLength(2);
  expect(await customer.sql("SELECT FROM salesforce._trigger_log")).toHaveLength(1);
  const request = {
    mappingId: customer.shape.mappingId,
    work: "cycle",
    configVersion: 1,
    owner: "",
    slot: null,
  } as const;
  expect(await store.begin({ ...request, leaseSeconds: 30 })).toEqual({ held: false, why: "not provisioned" });
});

longTest("a column of another type is kept as it is, and its values travel", async () => {
  customer = await createCustomer({
    provisioned: false,
    shape: contactShape({ columns: [column("Amount__c", { type: "double", precision: 10, scale: 2 })] }),
  });
  await customer.sql("CREATE SCHEMA salesforce");
  await customer.sql("CREATE TABLE salesforce.contact (id serial PRIMARY KEY, amount__c double precision)");
  await customer.provision();
  const { store, lease } = await customer.cycle();

  await store.apply(lease, page([image(1, 1, { amount__c: "0.10" })]));
  const again = await store.apply(lease, page([image(1, 2, { amount__c: "0.1" })]));

  expect(again).toMatchObject({ updated: 0, unchanged: 1 });
  expect(await customer.sql("SELECT amount__c, systemmodstamp FROM salesforce.contact")).toEqual([
    { amount__c: 0.1, systemmodstamp: orgTime(2) },
  ]);
});

const ASKED = [
  { column: "key__c", unique: true },
  { column: "email", unique: false },
];

test.each([
  ["a new table", false],
  ["a table that is there", true],
])(
  "the indexes that a mapping asks for are built on %s, so that an application's ON CONFLICT works",
  async (_, isThere) => {
    const shape = contactShape({ indexes: ASKED, upsertField: null });
    customer = await createCustomer({ shape: isThere ? { ...shape, indexes: [] } : shape });
    if (isThere) await customer.provision({ configVersion: 2, indexes: ASKED });

    await customer.sql(
      `INSERT INTO salesforce.contact (key__c, lastname) VALUES ('K', 'One'), ('L', 'Other')
     ON CONFLICT (key__c) DO UPDATE SET lastname = excluded.lastname`,
    );

    expect(
      await customer.sql(
        `SELECT a.attname AS column, i.indisunique AS unique FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
       WHERE i.indrelid = 'salesforce.contact'::regclass AND a.attname IN ('key__c', 'email') ORDER BY 1`,
      ),
    ).toEqual([
      { column: "email", unique: false },
      { column: "key__c", unique: true },
    ]);
  },
);
