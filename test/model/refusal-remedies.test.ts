import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { refusalOf, SalesforceRefusal } from "../../lib/model/change/refusal.ts";
import { FAILURE_REASONS, reasonFor } from "../../lib/model/engine.ts";
import { REMEDIES, remedyFor } from "../../lib/model/refusal-remedies.ts";
import { failureOf } from "../../lib/sync/report/cycle-failure.ts";

/**
 * Texts as Salesforce writes them, of the rows that its words choose: from Salesforce Help, "OAuth 2.0 Authorization
 * Errors", the REST API Developer Guide, the issues of open-source clients, and `test/recorded/answers/sign-in`.
 */
const RECORDED = [
  ["invalid_client", "app must be installed into org", "invalid_client … installed"],
  ["invalid_client", "invalid client credentials", "invalid_client"],
  ["invalid_grant", "user hasn't approved this consumer", "invalid_grant … approved this consumer"],
  ["invalid_grant", "audience is invalid", "invalid_grant … audience"],
  ["invalid_grant", "Audience validation failed", "invalid_grant … audience"],
  ["invalid_grant", "invalid assertion", "invalid_grant … assertion"],
  ["invalid_grant", "assertion is expired", "invalid_grant … assertion"],
  ["invalid_grant", "invalid code verifier", "invalid_grant … code"],
  ["invalid_grant", "expired authorization code", "invalid_grant … code"],
  ["invalid_grant", "expired access/refresh token", "invalid_grant … expired access/refresh token"],
  [
    "invalid_grant",
    "expired access/refresh token (used by another client, such as a second deployment, since …)",
    "invalid_grant … used by another client",
  ],
  ["invalid_grant", "ip restricted", "invalid_grant … ip restricted"],
  ["invalid_grant", "IP restricted or invalid login hours", "invalid_grant … ip restricted"],
  ["invalid_grant", "password expired", "invalid_grant … password"],
  ["invalid_grant", "inactive user", "invalid_grant … inactive user"],
  ["invalid_grant", "inactive organization", "invalid_grant … inactive organization"],
  ["invalid_grant", "authentication failure - Invalid Password", "invalid_grant … authentication failure"],
  ["invalid_grant", "user is locked", "invalid_grant … locked"],
  ["invalid_grant", "no client credentials user enabled", "invalid_grant … client credentials user"],
  ["invalid_grant", "request not supported on this domain", "* … domain"],
  ["invalid_grant", "something that is new", "invalid_grant"],
  ["invalid_request", "must use an instance domain", "* … domain"],
  [
    "invalid_request",
    "refresh_token scope is required and the connected app should be installed and preauthorized",
    "invalid_request … scope is required",
  ],
  ["rate_limit_exceeded", "login rate exceeded", "* … login rate exceeded"],
  ["invalid_grant", "token request is already being processed", "* … token request is already being processed"],
  ["unknown_error", "retry your request", "* … retry your request"],
  [
    "INVALID_SESSION_ID",
    "This session is not valid for use with the REST API",
    "INVALID_SESSION_ID … not valid for use",
  ],
  ["INVALID_SESSION_ID", "Session expired or invalid", "INVALID_SESSION_ID"],
  ["REQUEST_LIMIT_EXCEEDED", "ConcurrentPerOrgLongTxn Limit exceeded.", "REQUEST_LIMIT_EXCEEDED … Concurrent"],
  [
    "NOT_FOUND",
    "Provided external ID field does not exist or is not accessible: Ext__c",
    "NOT_FOUND … external ID field",
  ],
] as const;

/** Rows that a code alone chooses, whatever its text says. */
const BY_CODE = Object.keys(REMEDIES).filter((row) => !row.includes("…"));

test("each refusal has the remedy of its own cause, and each row of the table is one's", () => {
  const all = [...RECORDED, ...BY_CODE.map((code) => [code, "a text", code] as const)];
  for (const [code, message, row] of all) {
    const refusal = refusalOf(400, code, message);

    const remedy = remedyFor(refusal);

    expect({ code, message, remedy }).toEqual({ code, message, remedy: REMEDIES[row] });
    expect(failureOf(new SalesforceRefusal(refusal))).toMatchObject({ message: `${code}: ${message}`, remedy });
  }
  const rows: readonly string[] = all.map(([, , row]) => row);
  expect(Object.keys(REMEDIES).filter((row) => !rows.includes(row))).toEqual([]);
});

test("a refusal that no row knows has the remedy of its kind", () => {
  expect(remedyFor(refusalOf(403, "REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded."))).toMatch(/raise the org/);
  expect(remedyFor(refusalOf(400, "INVALID_FIELD", "No such column"))).toMatch(/access to the object and field/);
});

test("the pages have each row of their tables: refusals, and the reasons of sync.broken with what the operator gets", () => {
  const page = (path: string) => readFileSync(join(import.meta.dirname, "../../lib", path), "utf8");
  const [refusals, runbook] = [page("docs/connect-salesforce.md"), page("infra/RUNBOOK.md")];

  for (const [row, remedy] of Object.entries(REMEDIES)) expect(refusals).toContain(`| \`${row}\` | ${remedy} |`);
  for (const reason of FAILURE_REASONS) expect(runbook).toContain(`| \`${reason}\` | ${reasonFor(reason).remedy} |`);
  expect(runbook).toMatch(/^\| `org_read_only` \| wait until Salesforce's maintenance ends/m);
});
