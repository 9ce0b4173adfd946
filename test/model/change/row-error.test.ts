import { describe, expect, test } from "vitest";
import { errorText, judge, MAX_RETRIES } from "../../../lib/model/change/row-error.ts";
import type { RecordError } from "../../../lib/model/record/record.ts";

const error = (code: string, message = "", fields: string[] = []): RecordError => ({ code, message, fields });

describe("a record that Salesforce refuses", () => {
  test.each([
    ["UNABLE_TO_LOCK_ROW", "unable to obtain exclusive access to this record"],
    ["CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", "T: execution of BeforeInsert caused by: UNABLE_TO_LOCK_ROW"],
  ])("is tried again within 5 to 10 s after %s: %s", (code, message) => {
    expect([0, 1].map((random) => judge("update", [error(code, message)], 0, random))).toEqual([
      { kind: "retry", afterSeconds: 5 },
      { kind: "retry", afterSeconds: 10 },
    ]);
  });

  test.each([["UNKNOWN_EXCEPTION", "An unexpected error occurred"]])(
    "is tried again a minute later after %s: %s",
    (code, message) => {
      expect(judge("update", [error(code, message)], 0, 0)).toEqual({ kind: "retry", afterSeconds: 60 });
    },
  );

  test.each([
    ["CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", "T: System.LimitException: Apex CPU time limit exceeded"],
    ["CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", "T: System.LimitException: Too many SOQL queries: 101"],
    [
      "CANNOT_EXECUTE_FLOW_TRIGGER",
      "We can't save this record because the P process failed. Too many SOQL queries: 101",
    ],
  ])("was one of too many after %s: %s", (code, message) => {
    expect(judge("update", [error(code, message)], 0, 0)).toEqual({ kind: "tooMany" });
  });

  test.each([
    ["FIELD_CUSTOM_VALIDATION_EXCEPTION", "must be a grown-up"],
    ["CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", "T: execution of BeforeInsert"],
    ["INVALID_FIELD", "No such column"],
    ["DUPLICATE_VALUE", "duplicate value found"],
  ])("fails at once with %s: %s", (code, message) => {
    expect(judge("create", [error(code, message)], 0, 0)).toEqual({ kind: "refused" });
  });

  test("is tried again one, two, four, eight and sixteen minutes later, then fails", () => {
    const verdicts = [0, 1, 2, 3, 4, MAX_RETRIES].map((attempts) =>
      judge("update", [error("UNKNOWN_EXCEPTION")], attempts, 0),
    );

    expect(verdicts.map((verdict) => (verdict.kind === "retry" ? verdict.afterSeconds / 60 : verdict.kind))).toEqual([
      1,
      2,
      4,
      8,
      16,
      "refused",
    ]);
  });

  test("fails when one of its errors will not pass", () => {
    expect(judge("update", [error("UNABLE_TO_LOCK_ROW"), error("STRING_TOO_LONG")], 0, 0).kind).toBe("refused");
  });
});

test.each([
  ["INSERT_UPDATE_DELETE_NOT_ALLOWED_DURING_MAINTENANCE", "", "readOnly"],
  ["STORAGE_LIMIT_EXCEEDED", "storage limit exceeded", "storageFull"],
  ["API_DISABLED_FOR_ORG", "", "disabled"],
  ["API_CURRENTLY_DISABLED", "", "disabled"],
  ["REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded.", "limit"],
  ["REQUEST_LIMIT_EXCEEDED", "ConcurrentPerOrgLongTxn Limit exceeded.", "busy"],
  ["SERVER_UNAVAILABLE", "", "transient"],
  ["FUNCTIONALITY_TEMPORARILY_UNAVAILABLE", "", "busy"],
  ["INVALID_SESSION_ID", "", "session"],
])("%s (%s) says nothing of the record, after however many attempts: %s", (code, message, kind) => {
  const refusal = { kind, code, message, mayHaveRun: false };

  for (const operation of ["create", "update", "upsert", "delete", "undelete"] as const)
    expect(judge(operation, [error(code, message)], MAX_RETRIES, 0)).toEqual({ kind: "org", refusal });
});

test.each(["ENTITY_IS_DELETED", "INVALID_CROSS_REFERENCE_KEY"])(
  "a delete of a record that is not there (%s) is done",
  (code) => {
    expect(judge("delete", [error(code)], 0, 0)).toEqual({ kind: "accepted" });
    expect(judge("update", [error(code)], 0, 0)).toEqual({ kind: "refused" });
  },
);

test("an error says its code, its message and the fields", () => {
  const errors = [error("STRING_TOO_LONG", "too large", ["Name", "Title"]), error("DUPLICATE_VALUE", "twice")];

  expect(errorText(errors)).toBe("STRING_TOO_LONG: too large [Name, Title]; DUPLICATE_VALUE: twice");
});
