import { parseQuery } from "@jetstreamapp/soql-parser-js";
import { expect, test } from "vitest";
import {
  allAfter,
  changedSince,
  createdBy,
  fieldsOf,
  outsideSince,
  stampsSince,
  withIds,
} from "../../lib/model/soql.ts";
import { column, contactShape } from "../support/shapes.ts";

const shape = contactShape({ filter: "Email != NULL OR Key__c = 'K'" });
const since = new Date("2026-02-03T04:05:06.789Z");
const id = "003000000000001AAA";

test.each([
  ["a pull", changedSince(shape, since)],
  ["a pull's next page", changedSince(shape, { stamp: since, afterId: id })],
  ["the late-commit lane", stampsSince(shape, { stamp: since, afterId: id }, since)],
  ["what left the filter", outsideSince(shape, { stamp: since, afterId: id })],
  ["a first load", allAfter(shape, null)],
  ["a first load's next page", allAfter(shape, id)],
  ["records by id", withIds(shape, [id, id])],
  ["what our users created", createdBy(shape, [id, id], since, since, id)],
])("%s is a query that Salesforce's grammar knows", (_, soql) => {
  expect(() => parseQuery(soql)).not.toThrow();
});

test("a pull goes on where the last page ended, ties within one second included", () => {
  expect(changedSince(contactShape(), { stamp: since, afterId: id })).toBe(
    "SELECT Id, SystemModstamp, IsDeleted, Email, Key__c, LastName, Name FROM Contact " +
      "WHERE (SystemModstamp = 2026-02-03T04:05:06Z AND Id > '003000000000001AAA') OR SystemModstamp > 2026-02-03T04:05:06Z " +
      "ORDER BY SystemModstamp, Id LIMIT 2000",
  );
});

test("a filter never widens what a query asks for", () => {
  expect(changedSince(shape, since)).toContain(
    "WHERE (SystemModstamp >= 2026-02-03T04:05:06Z) AND (Email != NULL OR Key__c = 'K')",
  );
});

test.each(["Name, (SELECT Id FROM Contacts)", "Name FROM User", "", "1st", "Näme"])(
  "a field named %j never becomes part of a query",
  (field) => {
    expect(() => fieldsOf(contactShape({ columns: [column(field)] }))).toThrow("is not an API name");
  },
);
