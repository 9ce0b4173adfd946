import { expect, test } from "vitest";
import type { ClaimedChange } from "../../../lib/model/change/change.ts";
import { changeKeys } from "../../../lib/model/change/change-keys.ts";
import { column, contactShape } from "../../support/worlds/shapes.ts";

const change: ClaimedChange = {
  id: 1,
  action: "UPDATE",
  recordId: 7,
  sfid: "003000000000001AAA",
  old: { key__c: "K-1" },
  values: { key__c: " k-2 ", reportsto__r__key__c: "K-3" },
  attempts: 0,
  capturedAt: new Date(0),
};

test("changes get in each other's way by row, record, and the upsert values that they have and had", () => {
  expect(changeKeys(contactShape({ upsertField: "Key__c" })).of(change)).toEqual([
    7,
    "003000000000001",
    "key k-1",
    "key k-2",
  ]);
  expect(changeKeys(contactShape({ upsertField: null })).of(change)).toEqual([7, "003000000000001"]);
});

test("a row that names a parent in its own table waits for it", () => {
  const parent = { reference: "ReportsToId", relationship: "ReportsTo", object: "Contact", field: "Key__c" };
  const columns = [column("Key__c"), { ...column("ReportsTo__r.Key__c"), column: "reportsto__r__key__c", parent }];

  expect(changeKeys(contactShape({ upsertField: "Key__c", columns })).parentsOf(change)).toEqual(["key k-3"]);
  expect(changeKeys(contactShape({ upsertField: "Key__c" })).parentsOf(change)).toEqual([]);
});
