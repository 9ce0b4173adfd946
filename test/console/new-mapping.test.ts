import type { ReadObjectData } from "bridge/api";
import { expect, test } from "vitest";
import { lackingOf, proposedFields, proposedUpsertField } from "../../lib/console/pages/mappings/preview.ts";

type Field = ReadObjectData["fields"][number];

const field = (name: string, more: Partial<Field> = {}): Field =>
  ({
    ...{ name, required: false, createable: true, external_id: false, unique: false, mappable: true },
    ...{ reference_to: [], ...more },
  }) as unknown as Field;

const ID = field("Id", { external_id: true, unique: true, createable: false });
const NAME = field("LastName", { required: true });

test("a new mapping begins with what Salesforce requires, and with the upsert field", () => {
  const address = field("Address", { required: true, mappable: false });
  const key = field("Key__c", { external_id: true, unique: true });

  expect([...proposedFields([ID, NAME, field("Email"), address, key])]).toEqual(["LastName", "Key__c"]);
});

test.each([
  ["none but the record's own id", [ID, NAME], null],
  ["one that is unique before one that may repeat", ["Old__c", "Key__c"], "Key__c"],
  ["one that may repeat where there is no other", ["Old__c"], "Old__c"],
])("the upsert field that is proposed is an external id: %s", (_, given, proposed) => {
  const external = (name: string) => field(name, { external_id: true, unique: name === "Key__c" });
  const fields = given.map((one) => (typeof one === "string" ? external(one) : one));

  expect(proposedUpsertField(fields)).toBe(proposed);
});

test("required fields that are left out are named, unless a parent's key replaces them", () => {
  const account = field("AccountId", { required: true, reference_to: ["Account"] });
  const order = field("Order__c", { required: true, reference_to: ["Order__c"] });
  const fields = [NAME, account, order];

  expect(lackingOf(fields, new Set())).toEqual(["LastName", "AccountId", "Order__c"]);
  expect(lackingOf(fields, new Set(["LastName", "Account__Key__c", "Order__r__Key__c"]))).toEqual([]);
});
