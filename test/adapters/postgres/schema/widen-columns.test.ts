import { expect, test } from "vitest";
import { widerType } from "../../../../lib/adapters/postgres/schema/widen-columns.ts";
import { column, contactShape } from "../../../support/worlds/shapes.ts";
import { aCustomer, customer, sql } from "../world.ts";

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
const types = async () =>
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

test("a field that has shrunk narrows nothing, and one that grows again later is followed", async () => {
  await aCustomer({ shape: contactShape({ columns: grown }) });

  await customer.provision({ configVersion: 2, columns: before });
  const shrunk = await types();
  await customer.provision({ configVersion: 3, columns: [column("LastName", { length: 200 })] });

  expect(shrunk).toEqual({ lastname: "character varying(120)", notes__c: "text", rate__c: "numeric" });
  expect(await types()).toMatchObject({ lastname: "character varying(200)" });
});
