import { afterEach, expect, test } from "vitest";
import { widerType } from "../../../../lib/adapters/postgres/schema/widen-columns.ts";
import { column, contactShape } from "../../../support/worlds/shapes.ts";
import { type Customer, createCustomer, image, page } from "../customer.ts";

let customer: Customer | null = null;
afterEach(async () => {
  await customer?.close();
  customer = null;
});

const before = [
  column("LastName", { length: 80 }),
  column("Notes__c", { type: "textarea", length: 255 }),
  column("Rate__c", { type: "percent", precision: 5, scale: 2 }),
];
const grown = [
  column("LastName", { length: 120 }),
  column("Notes__c", { type: "textarea", length: 32_000 }),
  column("Rate__c", { type: "percent", precision: 9, scale: 4 }),
];
const typesIn = async ({ sql }: Customer) =>
  Object.fromEntries(
    (
      await sql(
        `SELECT attname, format_type(atttypid, atttypmod) AS type FROM pg_attribute
         WHERE attrelid = 'salesforce.contact'::regclass AND attname IN ('lastname', 'notes__c', 'rate__c')`,
      )
    ).map(({ attname, type }) => [attname, type]),
  );

test.each([
  ["character varying(80)", "varchar(120)", "varchar(120)"],
  ["character varying(80)", "varchar(80)", null],
  ["character varying(80)", "varchar(40)", null],
  ["character varying(255)", "text", "text"],
  ["text", "varchar(80)", null],
  ["character varying", "varchar(80)", null],
  ["numeric(18,2)", "numeric", "numeric"],
  ["numeric", "numeric", null],
  ["double precision", "numeric", null],
  ["money", "numeric", null],
  ["timestamp without time zone", "timestamptz", null],
])("a column of %s whose field asks for %s becomes %s", (is, wanted, expected) => {
  expect(widerType(is, wanted)).toBe(expected);
});

test("a field that has grown widens its column, keeps its rows and continues being captured", async () => {
  customer = await createCustomer({ shape: contactShape({ columns: before }) });
  await customer.sql(`ALTER TABLE salesforce.contact ALTER COLUMN rate__c TYPE numeric(5,2); -- as versions up to 0.3 made it
    INSERT INTO salesforce.contact (lastname, rate__c) VALUES ('Curie', 12.34)`);

  const result = await customer.provision({ configVersion: 2, columns: grown });
  const { store, lease } = await customer.cycle();
  const long = "x".repeat(120);
  await store.apply(lease, page([image(1, 1, { lastname: long, notes__c: null, rate__c: "12345.6789" })]));
  await customer.sql("UPDATE salesforce.contact SET rate__c = 1 WHERE lastname = 'Curie'");

  expect(result).toEqual({
    narrow: [],
    isCaptured: true,
    isNew: false,
    migration: null,
  });
  expect(await typesIn(customer)).toEqual({
    lastname: "character varying(120)",
    notes__c: "text",
    rate__c: "numeric",
  });
  expect(await customer.sql("SELECT lastname, rate__c FROM salesforce.contact ORDER BY id")).toEqual([
    { lastname: "Curie", rate__c: "1" },
    { lastname: long, rate__c: "12345.6789" },
  ]);
  expect(await customer.sql("SELECT action FROM salesforce._trigger_log ORDER BY id")).toEqual([
    { action: "INSERT" },
    { action: "UPDATE" },
  ]);
});

test("a field that has shrunk narrows nothing, and one that grows again later is followed", async () => {
  customer = await createCustomer({ shape: contactShape({ columns: grown }) });

  await customer.provision({ configVersion: 2, columns: before });
  const shrunk = await typesIn(customer);
  await customer.provision({ configVersion: 3, columns: [column("LastName", { length: 200 })] });

  expect(shrunk).toEqual({ lastname: "character varying(120)", notes__c: "text", rate__c: "numeric" });
  expect(await typesIn(customer)).toMatchObject({ lastname: "character varying(200)" });
});

test("a column that a customer's view holds fast stays narrow, is reported, and follows once the view is gone", async () => {
  customer = await createCustomer({ shape: contactShape({ columns: before }) });
  await customer.sql("CREATE VIEW salesforce.names AS SELECT lastname FROM salesforce.contact");

  const held = await customer.provision({ configVersion: 2, columns: grown });
  const between = await typesIn(customer);
  await customer.sql("DROP VIEW salesforce.names");
  const free = await customer.provision({ configVersion: 3, columns: grown });

  expect(held.narrow).toEqual([
    { column: "lastname", type: "varchar(120)", reason: expect.stringMatching(/used by a view/) },
  ]);
  expect(between).toMatchObject({ lastname: "character varying(80)", notes__c: "text" });
  expect(free.narrow).toEqual([]);
  expect(await typesIn(customer)).toMatchObject({ lastname: "character varying(120)" });
});
