import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { refusalOf, SalesforceRefusal } from "../../lib/model/change/refusal.ts";
import { REMEDIES, remedyFor } from "../../lib/model/refusal-remedies.ts";
import { failureOf } from "../../lib/sync/report/cycle-failure.ts";

const OAUTH = "Salesforce Help, OAuth 2.0 Authorization Errors";
const SOAP = "SOAP API Developer Guide, Core Data Types: ExceptionCode, StatusCode";
const REST = "REST API Developer Guide, Status Codes and Error Responses";
const OURS = "Bridge's own codes for what never became an answer";

/**
 * Refusals as Salesforce writes them: status, code, text, where it was recorded, the row that it belongs to. Of an
 * ExceptionCode the code is documented and the text is not, so there the text says nothing that counts.
 */
const RECORDED: readonly (readonly [number, string, string, string, string])[] = [
  [400, "invalid_client_id", "client identifier invalid", OAUTH, "invalid_client_id"],
  [400, "invalid_client", "invalid client credentials", OAUTH, "invalid_client"],
  [400, "invalid_client", "app must be installed into org", "airbytehq/airbyte#66135", "invalid_client … installed"],
  [400, "redirect_uri_mismatch", "redirect_uri must match configuration", OAUTH, "redirect_uri_mismatch"],
  [400, "unsupported_grant_type", "grant type not supported", OAUTH, "unsupported_grant_type"],
  [400, "invalid_grant", "user hasn't approved this consumer", OAUTH, "invalid_grant … approved this consumer"],
  [400, "invalid_grant", "audience is invalid", "simple-salesforce/simple-salesforce#672", "invalid_grant … audience"],
  [400, "invalid_grant", "Audience validation failed", OAUTH, "invalid_grant … audience"],
  [400, "invalid_grant", "invalid assertion", "simple-salesforce/simple-salesforce#711", "invalid_grant … assertion"],
  [400, "invalid_grant", "assertion is expired", OAUTH, "invalid_grant … assertion"],
  [400, "invalid_grant", "invalid code verifier", OAUTH, "invalid_grant … code"],
  [400, "invalid_grant", "expired authorization code", OAUTH, "invalid_grant … code"],
  [400, "invalid_grant", "expired access/refresh token", OAUTH, "invalid_grant … expired access/refresh token"],
  [
    400,
    "invalid_grant",
    "expired access/refresh token (used by another client, such as a second deployment, since …)",
    OURS,
    "invalid_grant … used by another client",
  ],
  [400, "invalid_grant", "ip restricted", OAUTH, "invalid_grant … ip restricted"],
  [400, "invalid_grant", "IP restricted or invalid login hours", OAUTH, "invalid_grant … ip restricted"],
  [400, "invalid_grant", "password expired", "salesforcedictionary.com, invalid_grant", "invalid_grant … password"],
  [400, "invalid_grant", "inactive user", "salesforcedictionary.com, invalid_grant", "invalid_grant … inactive user"],
  [400, "invalid_grant", "inactive organization", "calcom/cal.diy#11508", "invalid_grant … inactive organization"],
  [
    400,
    "invalid_grant",
    "authentication failure - Invalid Password",
    "test/recorded/answers/sign-in",
    "invalid_grant … authentication failure",
  ],
  [400, "invalid_grant", "user is locked", "salesforcedictionary.com, invalid_grant", "invalid_grant … locked"],
  [400, "invalid_grant", "authentication failure", OAUTH, "invalid_grant … authentication failure"],
  [400, "invalid_grant", "no client credentials user enabled", OAUTH, "invalid_grant … client credentials user"],
  [400, "invalid_grant", "request not supported on this domain", OAUTH, "* … domain"],
  [400, "invalid_grant", "something that is new", OAUTH, "invalid_grant"],
  [400, "invalid_request", "must use an instance domain", OAUTH, "* … domain"],
  [
    400,
    "invalid_request",
    "refresh_token scope is required and the connected app should be installed and preauthorized",
    "node-salesforce-jwt#3",
    "invalid_request … scope is required",
  ],
  [
    400,
    "invalid_app_access",
    "user is not admin approved to access this app",
    "forcedotcom/cli#3260",
    "invalid_app_access",
  ],
  [400, "app_not_found", "External client app is not installed in this org", "n8n-io/n8n#29016", "app_not_found"],
  [400, "invalid_scope", "no valid scopes defined", OAUTH, "invalid_scope"],
  [400, "OAUTH_APP_BLOCKED", "this app is blocked by admin", OAUTH, "OAUTH_APP_BLOCKED"],
  [400, "inactive_user", "user is inactive", OAUTH, "inactive_user"],
  [400, "inactive_org", "org is inactive", OAUTH, "inactive_org"],
  [400, "rate_limit_exceeded", "login rate exceeded", OAUTH, "* … login rate exceeded"],
  [
    400,
    "invalid_grant",
    "token request is already being processed",
    "segmentio/action-destinations, destinations/salesforce/index.ts",
    "* … token request is already being processed",
  ],
  [
    400,
    "unknown_error",
    "retry your request",
    "amazon-connect/amazon-connect-salesforce-lambda#43",
    "* … retry your request",
  ],
  [
    403,
    "INVALID_SESSION_ID",
    "This session is not valid for use with the REST API",
    "NangoHQ/nango#4344",
    "INVALID_SESSION_ID … not valid for use",
  ],
  [401, "INVALID_SESSION_ID", "Session expired or invalid", REST, "INVALID_SESSION_ID"],
  [
    500,
    "INVALID_OPERATION_WITH_EXPIRED_PASSWORD",
    "The users password has expired, you must call SetPassword before attempting any other API operations",
    "Salesforce Help, Best Practices For Handling Failed Logins (000212767)",
    "INVALID_OPERATION_WITH_EXPIRED_PASSWORD",
  ],
  [
    403,
    "REQUEST_LIMIT_EXCEEDED",
    "ConcurrentPerOrgLongTxn Limit exceeded.",
    REST,
    "REQUEST_LIMIT_EXCEEDED … Concurrent",
  ],
  [
    403,
    "API_DISABLED_FOR_ORG",
    "The REST API is not enabled for this Organization.",
    "restforce/restforce#219",
    "API_DISABLED_FOR_ORG",
  ],
  [403, "API_CURRENTLY_DISABLED", "API is disabled for this User", "restforce/restforce#562", "API_CURRENTLY_DISABLED"],
  [500, "ORG_LOCKED", "org is locked", SOAP, "ORG_LOCKED"],
  [500, "TRIAL_EXPIRED", "trial expired", SOAP, "TRIAL_EXPIRED"],
  [500, "CLIENT_NOT_ACCESSIBLE_FOR_USER", "client not accessible", SOAP, "CLIENT_NOT_ACCESSIBLE_FOR_USER"],
  [
    400,
    "TXN_SECURITY_NO_ACCESS",
    "The operation you requested isn't allowed due to a security policy in your organization.",
    SOAP,
    "TXN_SECURITY_NO_ACCESS",
  ],
  [403, "FUNCTIONALITY_NOT_ENABLED", "feature is not enabled", REST, "FUNCTIONALITY_NOT_ENABLED"],
  [
    400,
    "INSUFFICIENT_ACCESS_OR_READONLY",
    "insufficient access rights on object id",
    SOAP,
    "INSUFFICIENT_ACCESS_OR_READONLY",
  ],
  [403, "FORBIDDEN", "You do not have access to this resource", REST, "FORBIDDEN"],
  [500, "UNSUPPORTED_API_VERSION", "version is no longer supported", SOAP, "UNSUPPORTED_API_VERSION"],
  [
    404,
    "NOT_FOUND",
    "Provided external ID field does not exist or is not accessible: Ext__c",
    REST,
    "NOT_FOUND … external ID field",
  ],
  [
    400,
    "OPERATION_TOO_LARGE",
    "exceeded 100000 distinct who/what's",
    "singer-io/tap-salesforce#98",
    "OPERATION_TOO_LARGE",
  ],
  [400, "OPERATION_TOO_LARGE", "exceeded 20000 distinct ids", "jsforce/jsforce#412", "OPERATION_TOO_LARGE"],
  [400, "QUERY_TIMEOUT", "Your query request was running for too long.", REST, "QUERY_TIMEOUT"],
  [400, "QUERY_TOO_COMPLICATED", "Query is either selecting too many fields …", SOAP, "QUERY_TOO_COMPLICATED"],
  [400, "MALFORMED_QUERY", "unexpected token: 'From'", REST, "MALFORMED_QUERY"],
  [
    400,
    "INVALID_QUERY_FILTER_OPERATOR",
    "invalid ID field: x",
    "openstax_salesforce_api",
    "INVALID_QUERY_FILTER_OPERATOR",
  ],
  [500, "UNKNOWN_EXCEPTION", "An unexpected error occurred.", REST, "UNKNOWN_EXCEPTION"],
  [400, "FOREIGN_INSTANCE", "", OURS, "FOREIGN_INSTANCE"],
  [400, "UNREACHABLE", "", OURS, "UNREACHABLE"],
  [400, "NOT_SALESFORCE", "", OURS, "NOT_SALESFORCE"],
  [400, "BROKEN_ANSWER", "", OURS, "BROKEN_ANSWER"],
];

/** Rows of which connecting again, or reporting, is a part of the remedy. */
const AGAIN = new Set([
  "invalid_grant … used by another client",
  "invalid_grant … expired access/refresh token",
  "UNSUPPORTED_API_VERSION",
]);
const REPORT = new Set(["MALFORMED_QUERY"]);

test.each(RECORDED)("%i %s: %s (%s) has the remedy of its own cause", (status, code, message, _, row) => {
  const refusal = refusalOf(status, code, message, status === 500);

  const remedy = remedyFor(refusal);

  expect(remedy).toBe(REMEDIES[row]);
  expect(failureOf(new SalesforceRefusal(refusal))).toMatchObject({ message: `${code}: ${message}`, remedy });
  if (!AGAIN.has(row)) expect(remedy).not.toMatch(/connect the workspace to Salesforce again/);
  if (!REPORT.has(row)) expect(remedy).not.toMatch(/report/);
});

test.each([
  [403, "REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded.", /raise the org's API limit/],
  [400, "INSERT_UPDATE_DELETE_NOT_ALLOWED_DURING_MAINTENANCE", "read-only mode", /maintenance ends/],
  [400, "STORAGE_LIMIT_EXCEEDED", "storage limit exceeded", /Storage Usage/],
  [500, "EXCEEDED_QUOTA", "the org's data storage was exceeded", /Storage Usage/],
  [503, "SERVER_UNAVAILABLE", "The REST API is temporarily unavailable", /^wait/],
  [400, "temporarily_unavailable", "", /^wait/],
  [400, "server_error", "", /^wait/],
  [403, "FUNCTIONALITY_TEMPORARILY_UNAVAILABLE", "", /^wait/],
  [400, "INVALID_FIELD", "No such column 'Bogus__c' on entity 'Account'", /access to the object and field/],
  [400, "INVALID_TYPE", "sObject type 'X' is not supported", /access to the object and field/],
  [403, "INSUFFICIENT_ACCESS", "insufficient access", /access to the object and field/],
])("%i %s: %s has the remedy of its kind", (status, code, message, remedy) => {
  expect(remedyFor(refusalOf(status, code, message, status === 500))).toMatch(remedy);
});

test("each row of the table has a recorded text, and the page has it", () => {
  const page = readFileSync(join(import.meta.dirname, "../../lib/docs/connect-salesforce.md"), "utf8");

  expect(Object.keys(REMEDIES).filter((row) => !RECORDED.some(([, , , , of]) => of === row))).toEqual([]);
  for (const [row, remedy] of Object.entries(REMEDIES)) expect(page).toContain(`| \`${row}\` | ${remedy} |`);
});
