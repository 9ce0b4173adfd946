import { parseQuery } from "@jetstreamapp/soql-parser-js";
import { expect, test } from "vitest";
import type { FieldType } from "../../../lib/model/mapping/field-type.ts";
import {
  allAfter,
  changedSince,
  createdBy,
  fieldsOf,
  outsideSince,
  stampsSince,
  withIds,
  withUpsertValues,
} from "../../../lib/model/mapping/soql.ts";
import { column, contactShape } from "../../support/worlds/shapes.ts";

const shape = contactShape({ filter: "Email != NULL OR Key__c = 'K'" });
const since = new Date("2026-02-03T04:05:06.789Z");
const id = "003000000000001AAA";

test.each([
  ["a pull", changedSince(shape, since).soql],
  ["a pull's next page", changedSince(shape, { stamp: since, afterId: id }).soql],
  ["a pull without our own saves", changedSince(shape, since, { writers: [id, id], until: since }).soql],
  ["our own saves by ids and stamps", stampsSince(shape, { stamp: since, afterId: id }, since, [id, id]).soql],
  ["the late-commit lane", stampsSince(shape, { stamp: since, afterId: id }, since).soql],
  ["what left the filter", outsideSince(shape, { stamp: since, afterId: id }).soql],
  ["a first load", allAfter(shape, null).soql],
  ["a first load's next page", allAfter(shape, id).soql],
  ["records by id", withIds(shape, [id, id])],
  ["what our users created", createdBy(shape, [id, id], since, since, id).soql],
  [
    "records by upsert values",
    withUpsertValues({ ...shape, upsertField: "Key__c" }, ["it's", "a\\b", "two\nlines"]).soql,
  ],
])("%s is a query that Salesforce's grammar knows", (_, soql) => {
  expect(() => parseQuery(soql)).not.toThrow();
});

test("upsert values are texts that end nowhere but at their end, and numbers without quotes", () => {
  const of = (type: FieldType) => ({
    ...contactShape(),
    upsertField: "Code__c",
    columns: [column("Code__c", { type })],
  });

  expect(withUpsertValues(of("string"), ["it's", "a\\", "x' OR Id != '", "two\r\nlines"]).soql).toContain(
    "Code__c IN ('it\\'s', 'a\\\\', 'x\\' OR Id != \\'', 'two\\r\\nlines')",
  );
  expect(withUpsertValues({ ...of("string"), filter: "Name = 'x'" }, ["a"]).soql).not.toContain("Name = 'x'");
  expect(withUpsertValues(of("double"), ["5.0", "9.9213206E7"]).soql).toContain("Code__c IN (5, 99213206)");
});

test("a pull continues where the last page ended, ties within one second included", () => {
  expect(changedSince(contactShape(), { stamp: since, afterId: id })).toEqual({
    soql:
      "SELECT Id, SystemModstamp, IsDeleted, Email, Key__c, LastName, Name FROM Contact " +
      "WHERE (SystemModstamp = 2026-02-03T04:05:06Z AND Id > '003000000000001AAA') OR SystemModstamp > 2026-02-03T04:05:06Z " +
      "ORDER BY SystemModstamp, Id LIMIT 2000",
    limit: 2_000,
  });
});

test("what we saved last is asked for by ids and stamps before a time, and with the fields from then on", () => {
  const [position, until] = [since, new Date("2026-02-03T04:06:04Z")];

  expect(changedSince(contactShape(), position, { writers: ["005000000000001AAA"], until }).soql).toContain(
    "WHERE (SystemModstamp >= 2026-02-03T04:05:06Z) " +
      "AND (SystemModstamp >= 2026-02-03T04:06:04Z OR LastModifiedById NOT IN ('005000000000001AAA')) ORDER BY",
  );
  expect(stampsSince(contactShape(), position, until, ["005000000000001AAA"]).soql).toBe(
    "SELECT Id, SystemModstamp FROM Contact WHERE SystemModstamp >= 2026-02-03T04:05:06Z " +
      "AND SystemModstamp < 2026-02-03T04:06:04Z AND LastModifiedById IN ('005000000000001AAA') " +
      "ORDER BY SystemModstamp, Id LIMIT 2000",
  );
});

const fields = (count: number, length = 80) =>
  Array.from({ length: count }, (_, at) => column(`Field${at}__c`, { length }));

test.each([
  ["of twenty fields holds as many records as Salesforce gives at once", fields(20), 2_000],
  ["of three hundred fields holds fewer", fields(300), 133],
  ["of one long text among few fields holds a seventh", [...fields(5), ...fields(1, 131_072)], 291],
])("a page %s", (_, columns, records) => {
  const wide = contactShape({ columns });

  expect(changedSince(wide, since)).toMatchObject({
    soql: expect.stringMatching(` LIMIT ${records}$`),
    limit: records,
  });
  expect(allAfter(wide, id)).toMatchObject({ limit: records });
  expect(createdBy(wide, null, since, since, null)).toMatchObject({ limit: records });
  expect(stampsSince(wide, since, null)).toMatchObject({ limit: 2_000 });
});

test.each(["Name, (SELECT Id FROM Contacts)", "Name FROM User", "", "1st", "Näme"])(
  "a field named %j never becomes part of a query",
  (field) => {
    expect(() => fieldsOf(contactShape({ columns: [column(field)] }))).toThrow("is not an API name");
  },
);
