import { expect, test } from "vitest";
import { widerType } from "../../../../lib/adapters/postgres/schema/widen-columns.ts";
import { column, contactShape } from "../../../support/worlds/shapes.ts";
import { aCustomer, customer, typesOf } from "../world.ts";

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
  const lastName = (length: number) => column("LastName", { length });
  const notes = (length: number) => column("Notes__c", { type: "textarea", length });
  const rate = (precision: number, scale: number) => column("Rate__c", { type: "percent", precision, scale });
  await aCustomer({ shape: contactShape({ columns: [lastName(120), notes(32_000), rate(9, 4)] }) });

  await customer.provision({ configVersion: 2, columns: [lastName(80), notes(255), rate(5, 2)] });
  const shrunk = await typesOf("salesforce.contact");
  await customer.sql("ALTER TABLE salesforce.contact ALTER rate__c TYPE numeric(5, 2)");
  await customer.provision({ configVersion: 3, columns: [lastName(200), rate(5, 3)] });

  expect(shrunk).toMatchObject({ lastname: "character varying(120)", notes__c: "text", rate__c: "numeric" });
  expect(await typesOf("salesforce.contact")).toMatchObject({
    ...{ lastname: "character varying(200)", rate__c: "numeric" },
  });
});
