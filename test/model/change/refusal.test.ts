import { expect, test } from "vitest";
import { mayBeOneRecords, refusalOf } from "../../../lib/model/change/refusal.ts";

test.each([
  [401, "INVALID_SESSION_ID", "Session expired or invalid", "session", false],
  [500, "INVALID_SESSION_ID", "Invalid Session ID found in SessionHeader", "session", false],
  [403, "REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded.", "limit", false],
  [403, "REQUEST_LIMIT_EXCEEDED", "ConcurrentPerOrgLongTxn Limit exceeded.", "busy", false],
  [403, "API_DISABLED_FOR_ORG", "API is disabled for this Organization", "disabled", false],
  [400, "INSERT_UPDATE_DELETE_NOT_ALLOWED_DURING_MAINTENANCE", "read-only mode", "readOnly", false],
  [400, "STORAGE_LIMIT_EXCEEDED", "storage limit exceeded", "storageFull", false],
  [400, "INVALID_FIELD", "No such column 'Bogus__c'", "mapping", false],
  [400, "INVALID_TYPE", "sObject type 'X' is not supported", "mapping", false],
  [400, "OPERATION_TOO_LARGE", "exceeded 20000 distinct ids", "tooLarge", false],
  [400, "MALFORMED_QUERY", "unexpected token", "bug", false],
  [500, "UNKNOWN_EXCEPTION", "An unexpected error occurred", "transient", true],
  [503, "SERVER_UNAVAILABLE", "The REST API is temporarily unavailable", "transient", true],
  [503, "HTTP_503", "<html>", "transient", true],
  [429, "HTTP_429", "", "transient", false],
] as const)("%i %s (%s) is of kind %s", (status, code, message, kind, mayHaveRun) => {
  expect(refusalOf(status, code, message)).toMatchObject({ kind, mayHaveRun });
});

test.each([
  ["Client", "An invalid XML character was found", "bug", true],
  ["EXCEEDED_MAX_SIZE_REQUEST", "the request is too large", "bug", true],
  ["INVALID_FIELD", "No such column 'Bogus__c'", "mapping", true],
  ["INVALID_FIELD_FOR_INSERT_UPDATE", "Unable to create/update fields: Name", "mapping", true],
  ["INVALID_TYPE", "sObject type 'X' is not supported", "mapping", false],
  ["INVALID_OPERATION", "this object is not supported", "bug", false],
  ["UNSUPPORTED_API_VERSION", "this version is gone", "bug", false],
  ["REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded.", "limit", false],
  ["STORAGE_LIMIT_EXCEEDED", "storage limit exceeded", "storageFull", false],
  ["UNKNOWN_EXCEPTION", "An unexpected error occurred", "transient", false],
  ["Server", "the server's own trouble", "transient", false],
] as const)(
  "a fault of SOAP, whose status is always 500, says by its code whose it is: %s",
  (code, message, kind, isOnes) => {
    const refusal = refusalOf(500, code, message, true);

    expect([refusal.kind, mayBeOneRecords(refusal)]).toEqual([kind, isOnes]);
  },
);
