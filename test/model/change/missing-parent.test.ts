import { expect, test } from "vitest";
import { asNamed, missingParentIn, sentAgainAfterSeconds, waitsFor } from "../../../lib/model/change/missing-parent.ts";
import { judge } from "../../../lib/model/change/row-error.ts";

const missing = (value: string) => ({
  code: "INVALID_FIELD",
  message: `Foreign key external ID: ${value} not found for field Ext__c in entity Account`,
  fields: [],
});

test("a record that was refused only because its parent is missing waits for it, whatever its key says", () => {
  const key = "a-1 not found for field X in entity Y";

  expect(missingParentIn([missing(key)])).toEqual({ object: "Account", field: "Ext__c", value: key });
  expect(judge("create", [missing("a-1")], 99, 0)).toMatchObject({ kind: "parentMissing" });
  const other = { code: "STRING_TOO_LONG", message: "Name: data value too large", fields: ["Name"] };
  expect(judge("create", [missing("a-1"), other], 0, 0)).toEqual({ kind: "refused" });
  expect(judge("create", [], 0, 0)).toEqual({ kind: "refused" });
});

test("the message names the parent alone, so that equal keys have equal messages", () => {
  expect(waitsFor({ object: "Account", field: "Ext__c", value: " A-1 " })).toBe(
    waitsFor({ object: "Account", field: "Ext__c", value: "A-1" }),
  );
});

test("of two parents that a row names by one external id the missing one is waited for, in the row's own words", () => {
  const parent = (reference: string, value: string) => ({
    ...{ reference, relationship: reference, object: "Account", field: "Ext__c", value },
  });
  const record = { id: null, values: {}, parents: [parent("AccountId", "A-1"), parent("Partner__c", "b-2 ")] };
  const missingOf = (value: string) => asNamed({ record }, { object: "account", field: "ext__c", value }).value;

  expect([missingOf("B-2"), missingOf("A-1"), missingOf("repeated otherwise")]).toEqual(["b-2 ", "A-1", "A-1"]);
});

test("a parent is looked for within 10 seconds to 15 minutes, for 31 days", () => {
  const minutes = [-5, 0, 1, 10, 60, 600, 31 * 1440 - 1, 31 * 1440];

  expect(minutes.map((age) => sentAgainAfterSeconds(age * 60_000))).toEqual([10, 10, 12, 120, 720, 900, 900, null]);
});
