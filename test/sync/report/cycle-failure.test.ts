import { ListQueuesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";
import { refusalOf, SalesforceRefusal } from "../../../lib/model/change/refusal.ts";
import { Failure } from "../../../lib/model/failure.ts";
import { failureOf } from "../../../lib/sync/report/cycle-failure.ts";

const coded = (code: string, message = "Key (email)=(secret@example.com) already exists") =>
  Object.assign(new Error(message), { code });

test.each([
  [new SalesforceRefusal(refusalOf(401, "INVALID_SESSION_ID", "expired")), "salesforce_authorization"],
  [new SalesforceRefusal(refusalOf(400, "INVALID_FIELD", "No such column")), "salesforce_schema"],
  [new SalesforceRefusal(refusalOf(503, "HTTP_503", "")), "salesforce_unavailable"],
  [new SalesforceRefusal(refusalOf(400, "STORAGE_LIMIT_EXCEEDED", "storage limit exceeded")), "org_storage_full"],
  [new SalesforceRefusal(refusalOf(400, "OPERATION_TOO_LARGE", "exceeded 20000 distinct ids")), "salesforce_too_large"],
  [coded("57P01"), "postgres_unavailable"],
  [coded("ECONNREFUSED"), "postgres_unavailable"],
  [new Error("Connection terminated unexpectedly"), "postgres_unavailable"],
  [new Failure("CONFLICT", "the workspace has no database: connect PostgreSQL first"), "postgres_unavailable"],
  [new TypeError("x is not a function"), "engine_fault"],
])("%s is reported as %s", (error, reason) => {
  expect(failureOf(error).reason).toBe(reason);
});

test("an error of the service's own cloud is not reported as one of the customer's database", async () => {
  const credentials = { accessKeyId: "a", secretAccessKey: "b" };
  const nobody = { region: "us-east-1", endpoint: "http://127.0.0.1:1", maxAttempts: 1, credentials };
  const error: unknown = await new SQSClient(nobody).send(new ListQueuesCommand({})).catch((cause: unknown) => cause);

  expect(failureOf(error)).toEqual({
    reason: "engine_fault",
    message: "the service's own cloud failed (ECONNREFUSED)",
  });
});

test.each([
  [
    "42501",
    { message: "permission denied for table contact" },
    /^PostgreSQL refused \(SQLSTATE 42501\): permission denied for table contact; grant it/,
  ],
  [
    "53100",
    { message: "could not extend file: No space left on device" },
    /: could not extend file: No space left on device; make room/,
  ],
  ["25006", { message: "cannot execute UPDATE in a read-only transaction" }, /read-only transaction; .*primary/],
  [
    "28P01",
    { message: 'password authentication failed for user "app"' },
    /28P01\): it refuses our password; give the new one/,
  ],
  ["23514", { constraint: "adult", table: "contact" }, /23514\): constraint adult, table contact; a constraint/],
  ["55P03", { message: "canceling statement due to lock timeout" }, /locked a mapped table/],
  ["08006", {}, /08006\): the connection broke; syncing continues automatically$/],
  ["0A000", {}, /^PostgreSQL refused \(SQLSTATE 0A000\)$/],
])("SQLSTATE %s is reported with what to do", (code, said, expected) => {
  expect(failureOf(Object.assign(new Error("words"), said, { code })).message).toMatch(expected);
});

test("the message of a customer's function, which may hold anything, is not shown, nor a remedy that does not fit", () => {
  const raised = { code: "42501", where: "PL/pgSQL function refuse() line 1 at RAISE" };
  expect(failureOf(Object.assign(new Error("contact Secret is closed"), raised)).message).toBe(
    "PostgreSQL refused (SQLSTATE 42501): a trigger or function of the database has raised it; the server's log has its words",
  );
});

test("no value of a row is shown", () => {
  const values = coded("23505", "Key (email)=(secret@example.com) already exists");
  for (const code of ["23505", "22P02", "P0001", "40P01"]) {
    expect(failureOf(Object.assign(values, { code, detail: "secret", where: "secret" })).message).not.toContain(
      "secret",
    );
  }
  expect(failureOf(new Error("row (secret)")).message).toBe("Error");
});
