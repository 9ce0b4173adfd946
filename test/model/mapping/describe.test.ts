import { expect, test } from "vitest";
import { Failure } from "../../../lib/model/failure.ts";
import { type DescribedObject, shapeOf } from "../../../lib/model/mapping/describe.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { describedField as field } from "../../support/worlds/described-field.ts";
import { contactShape, mappingOf } from "../../support/worlds/shapes.ts";

const CONTACT: DescribedObject = {
  name: "Contact",
  queryable: true,
  fields: [
    field("Id", { type: "id" }),
    field("IsDeleted", { type: "boolean" }),
    field("SystemModstamp", { type: "datetime" }),
    field("LastName"),
    field("Key__c", { externalId: true }),
    field("MailingAddress", { type: "address" }),
  ],
};

const mapping = (more: Partial<Mapping> = {}): Mapping => ({
  ...mappingOf(contactShape()),
  sfObject: "Contact",
  fields: ["Id", "LastName"],
  configVersion: 3,
  ...more,
});

test("the upsert field is a column, whether it was listed or not", () => {
  const shape = shapeOf(mapping({ upsertField: "key__c" }), CONTACT, "salesforce");

  expect(shape.columns.map(({ column }) => column)).toEqual(["key__c", "lastname"]);
  expect(shape).toMatchObject({ upsertField: "Key__c", softDeletes: true, configVersion: 3 });
});

test("a filter becomes part of the shape only as we have written it, and IsDeleted where the object has it", () => {
  const fields = CONTACT.fields.filter(({ name }) => name !== "IsDeleted");

  const shape = shapeOf(mapping({ filter: "lastname='Rose'" }), { ...CONTACT, fields }, "salesforce");

  expect(shape).toMatchObject({ filter: "LastName = 'Rose'", softDeletes: false });
});

const withoutStamp = { ...CONTACT, fields: CONTACT.fields.filter(({ name }) => name !== "SystemModstamp") };

test.each<[string, Mapping, DescribedObject, string]>([
  ["a field that is gone", mapping({ fields: ["Gone__c"] }), CONTACT, "no field Gone__c"],
  ["a field that no column can hold", mapping({ fields: ["MailingAddress"] }), CONTACT, "of type address"],
  ["an upsert field that is no external id", mapping({ upsertField: "LastName" }), CONTACT, "no external id"],
  ["an object whose changes cannot be followed", mapping(), withoutStamp, "no SystemModstamp"],
  ["an object that cannot be queried", mapping(), { ...CONTACT, queryable: false }, "cannot be queried"],
  ["a filter that is not understood", mapping({ filter: "LastName LIKE" }), CONTACT, "the filter is not understood"],
])("%s is refused with the reason", (_, asked, object, reason) => {
  expect(() => shapeOf(asked, object, "salesforce")).toThrow(Failure);
  expect(() => shapeOf(asked, object, "salesforce")).toThrow(reason);
});

test("the indexes of an imported mapping are those of its columns, unique where Salesforce keeps the values so", () => {
  const rest = CONTACT.fields.map((one) => ({ ...one, unique: false }));
  const fields = [...rest, field("PG_ID__c", { externalId: true, unique: true })];
  const asked = ["Id", "SystemModstamp", "pg_id__c", "Key__c", "Gone__c"].map(
    (name) => [name, { unique: true }] as const,
  );
  const indexes = { ...Object.fromEntries(asked), LastName: { unique: false }, Odd: null };
  const imported = mapping({ fields: ["Id", "Key__c", "LastName", "PG_ID__c"] });
  const indexesOf = (foreign: Mapping["foreign"]) =>
    shapeOf({ ...imported, foreign }, { ...CONTACT, fields }, "salesforce").indexes;

  expect(indexesOf({ indexes })).toEqual([
    { column: "key__c", unique: false },
    { column: "lastname", unique: false },
    { column: "pg_id__c", unique: true },
  ]);
  expect([{}, { indexes: "x" }, { indexes: null }].map(indexesOf)).toEqual(Array(3).fill(undefined));
});
