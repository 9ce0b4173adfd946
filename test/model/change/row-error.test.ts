import { expect, test } from "vitest";
import { errorText, judge, MAX_RETRIES } from "../../../lib/model/change/row-error.ts";
import type { RecordError } from "../../../lib/model/record/record.ts";

const error = (code: string, message = "", fields: string[] = []): RecordError => ({ code, message, fields });

const FLOW = "We can't save this record because the P process failed. Too many SOQL queries: 101";
const APEX = "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY";

test.each([
  ["UNABLE_TO_LOCK_ROW", "unable to obtain exclusive access to this record", { kind: "retry", afterSeconds: 5 }],
  [APEX, "T: execution of BeforeInsert caused by: UNABLE_TO_LOCK_ROW", { kind: "retry", afterSeconds: 5 }],
  ["UNKNOWN_EXCEPTION", "An unexpected error occurred", { kind: "retry", afterSeconds: 60 }],
  [APEX, "T: System.LimitException: Apex CPU time limit exceeded", { kind: "tooMany" }],
  [APEX, "T: System.LimitException: Too many SOQL queries: 101", { kind: "tooMany" }],
  ["CANNOT_EXECUTE_FLOW_TRIGGER", FLOW, { kind: "tooMany" }],
  [APEX, "T: execution of BeforeInsert", { kind: "refused" }],
  ["FIELD_CUSTOM_VALIDATION_EXCEPTION", "must be a grown-up", { kind: "refused" }],
  ["INVALID_FIELD", "No such column", { kind: "refused" }],
  ["DUPLICATE_VALUE", "duplicate value found", { kind: "refused" }],
])("a record that Salesforce refuses with %s (%s) has its verdict: %j", (code, message, verdict) => {
  expect(judge("update", [error(code, message)], 0, 0)).toEqual(verdict);
});

test("a lock is tried again after 10 s at the latest, other trouble one, two, four, eight and sixteen minutes later, and nothing beside an error that will not pass", () => {
  expect(judge("update", [error("UNABLE_TO_LOCK_ROW")], 0, 1)).toEqual({ kind: "retry", afterSeconds: 10 });
  const verdicts = [0, 1, 2, 3, 4, MAX_RETRIES].map((attempts) =>
    judge("update", [error("UNKNOWN_EXCEPTION")], attempts, 0),
  );
  const minutes = verdicts.map((verdict) => (verdict.kind === "retry" ? verdict.afterSeconds / 60 : verdict.kind));
  expect(minutes).toEqual([1, 2, 4, 8, 16, "refused"]);
  expect(judge("update", [error("UNABLE_TO_LOCK_ROW"), error("STRING_TOO_LONG")], 0, 0).kind).toBe("refused");
});

test.each([
  ["INSERT_UPDATE_DELETE_NOT_ALLOWED_DURING_MAINTENANCE", "", "readOnly"],
  ["STORAGE_LIMIT_EXCEEDED", "storage limit exceeded", "storageFull"],
  ["API_DISABLED_FOR_ORG", "", "disabled"],
  ["API_CURRENTLY_DISABLED", "", "disabled"],
  ["ORG_LOCKED", "", "disabled"],
  ["TRIAL_EXPIRED", "", "disabled"],
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

test.each(["ENTITY_IS_DELETED", "INVALID_CROSS_REFERENCE_KEY", "NOT_FOUND", "INVALID_ID_FIELD"])(
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
