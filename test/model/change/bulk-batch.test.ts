import { expect, test } from "vitest";
import { bulkBatchId, bulkBatchOf, isLookDue } from "../../../lib/model/change/bulk-batch.ts";
import { bulkError } from "../../../lib/model/change/bulk-error.ts";

test("a batch says whether it is a job, and which", () => {
  const job = { operation: "upsert", jobId: "7505g00000AbCdEAAV" } as const;

  expect(bulkBatchOf(bulkBatchId(job))).toEqual(job);
  expect(bulkBatchOf("8a2e1c9c-6b9f-4c4a-9a36-0f0f3ac2b9c1")).toBeNull();
  expect(bulkBatchOf("bulk frobnicate 750")).toBeNull();
});

test("a job is looked after in every slot, and less and less often once it is older than some minutes", () => {
  const sentAt = new Date("2026-11-20T10:00:00Z");
  let lookedAt = sentAt;
  const looks: number[] = [];
  for (let seconds = 10; seconds <= 1_800; seconds += 10) {
    const now = new Date(sentAt.getTime() + seconds * 1000);
    if (!isLookDue(sentAt, lookedAt, now)) continue;
    looks.push(seconds);
    lookedAt = now;
  }

  expect(looks.slice(0, 17)).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, 170, 190]);
  expect(looks.length).toBeLessThan(60);
});

test.each([
  ["REQUIRED_FIELD_MISSING", "Required fields are missing: [Name]", ":Name --", ["Name"]],
  ["STRING_TOO_LONG", "two of them", ":LastName, Title__c --", ["LastName", "Title__c"]],
  ["DUPLICATE_VALUE", "value found: Key__c duplicates value on record with id: 003000000000001", ":--", []],
  ["FIELD_CUSTOM_VALIDATION_EXCEPTION", "line one\nline two: really", ":--", []],
  ["CANNOT_EXECUTE_FLOW_TRIGGER", "a message without fields", "", []],
])("the error %s with the message %j and %j is read as SOAP would have returned it", (code, message, end, fields) => {
  expect(bulkError(`${code}:${message}${end}`)).toMatchObject({ code, message, fields });
});

test("an error without a code has Salesforce's for the unknown", () => {
  expect(bulkError("no code at all")).toMatchObject({ code: "UNKNOWN_EXCEPTION", message: "no code at all" });
});
