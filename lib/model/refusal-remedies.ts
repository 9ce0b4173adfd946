import type { RequestRefusal } from "./change/refusal.ts";
import { REASON_OF, reasonFor } from "./engine.ts";

/**
 * What an operator does about a refusal, by its code, or by `CODE … words` of its message where one code means many things;
 * `*` is any code. The first that fits counts. `lib/docs/connect-salesforce.md` has the same rows.
 */
export const REMEDIES: Readonly<Record<string, string>> = {
  "* … login rate exceeded": "the user logged in too often in this hour: wait; its Login History names the clients",
  "* … token request is already being processed": "another request renews the session: wait some seconds",
  "* … retry your request": "Salesforce could not answer at this moment: wait some seconds",
  invalid_client_id: "the app is not known: copy its whole consumer key; a new app needs ten minutes",
  "invalid_client … installed": "the app is not approved in this org: Setup, Connected Apps OAuth Usage, Install",
  invalid_client: "the secret is wrong: copy the app's consumer secret again, or let the app work without one",
  redirect_uri_mismatch: "add this very callback address to the app's callback URLs",
  unsupported_grant_type: "the flow is switched off: enable it in the app's OAuth settings",
  "invalid_grant … approved this consumer": "pre-authorize the user: a permission set or profile in the app's policies",
  "invalid_grant … audience": "use the org's My Domain, https://….my.salesforce.com, as login URL",
  "invalid_grant … assertion": "upload the certificate of this private key to the app, and check this machine's clock",
  "invalid_grant … code": "a code works once, for fifteen minutes: begin the sign-in again",
  "invalid_grant … used by another client": "connect the workspace to Salesforce again, with a sign-in of its own",
  "invalid_grant … expired access/refresh token": "connect the workspace to Salesforce again",
  "invalid_grant … ip restricted": "relax the app's IP restrictions, or allow this service's addresses in the profile",
  "invalid_grant … authentication failure": "check user name, password and security token, and that its flow is on",
  "invalid_grant … password": "the user's password has expired: set a new one, then connect with it",
  "invalid_grant … inactive user": "the user is deactivated or frozen: activate it (Setup, Users)",
  "invalid_grant … inactive organization": "the org is locked, closed or suspended: ask Salesforce",
  "invalid_grant … locked": "the user is locked out after failed logins: unlock it (Setup, Users)",
  "invalid_grant … client credentials user": "set a Run As user for the client credentials flow in the app's policies",
  "* … domain": "use the org's My Domain, https://….my.salesforce.com, as login URL",
  "invalid_request … scope is required": "add 'refresh_token, offline_access' to the app's scopes; pre-authorize it",
  invalid_grant: "the app does not admit the user: check the app's OAuth settings and whom it admits",
  invalid_app_access: "approve the user for the app by a permission set or profile in the app's policies",
  app_not_found: "the app is not installed in this org: use the org's My Domain as login URL, or install it",
  invalid_scope: "give the app the scopes 'api' and 'refresh_token, offline_access'",
  OAUTH_APP_BLOCKED: "the app is blocked: Setup, Connected Apps OAuth Usage, Unblock",
  inactive_user: "the user is deactivated or frozen: activate it (Setup, Users)",
  inactive_org: "the org is locked, closed or suspended: ask Salesforce",
  "INVALID_SESSION_ID … not valid for use": "give the app the scope 'api', and relax its IP restrictions",
  INVALID_SESSION_ID: "each new session ends at once: check Setup, Session Settings, and the user's Login History",
  INVALID_OPERATION_WITH_EXPIRED_PASSWORD: "the user's password has expired: set a new one",
  "REQUEST_LIMIT_EXCEEDED … Concurrent": "too many long requests run in the org: wait, Bridge tries again",
  API_DISABLED_FOR_ORG: "give the user 'API Enabled', or ask Salesforce for an edition with API; changes wait",
  API_CURRENTLY_DISABLED: "give the user 'API Enabled', or ask Salesforce why the API is off; changes wait",
  ORG_LOCKED: "the org is locked: ask Salesforce; changes wait meanwhile",
  TRIAL_EXPIRED: "the org's trial has ended: ask Salesforce; changes wait meanwhile",
  CLIENT_NOT_ACCESSIBLE_FOR_USER: "API Access Control is on: install the app and assign it to the user",
  TXN_SECURITY_NO_ACCESS: "a security policy forbids it: exempt the user (Setup, Transaction Security Policies)",
  FUNCTIONALITY_NOT_ENABLED: "enable the feature that Salesforce names in Setup, or ask Salesforce for it",
  INSUFFICIENT_ACCESS_OR_READONLY: "give the user edit access to the object and its records by a permission set",
  FORBIDDEN: "give the user access to what Salesforce names, by a permission set",
  UNSUPPORTED_API_VERSION: "connect the workspace to Salesforce again, which takes the newest API version",
  "NOT_FOUND … external ID field": "make the upsert field an External ID that the user may see, or choose another",
  QUERY_TOO_COMPLICATED:
    "map fewer fields, formulas and fields of parents above all: Salesforce cannot read so many at once",
  OPERATION_TOO_LARGE: "give the user View All Data, or View All of the object: Salesforce then checks fewer records",
  QUERY_TIMEOUT: "the query takes the org too long: wait, smaller parts are tried; then ask Salesforce for an index",
  MALFORMED_QUERY: "correct the mapping's filter; without a filter, report the cycle's line",
  INVALID_QUERY_FILTER_OPERATOR: "correct the mapping's filter: it compares a field in a way that is not allowed",
  UNKNOWN_EXCEPTION: "wait: Bridge tries again with every cycle; if it stays, give Salesforce Support the ErrorId",
  FOREIGN_INSTANCE: "the token endpoint is not Salesforce's: check the login URL",
  UNREACHABLE: "wait: Bridge tries again; if it stays, check the login URL, the network and any proxy",
  NOT_SALESFORCE: "wait: Bridge tries again; if it stays, check the login URL, and any proxy before the org",
  BROKEN_ANSWER: "wait: Bridge tries again; if it stays, check any proxy before the org",
};

const ROWS = Object.entries(REMEDIES).map(([key, remedy]) => {
  const [code = "", words = ""] = key.toLowerCase().split(" … ");
  return { code, words, remedy };
});

/** What is known to help against this very refusal; null: nothing more than its kind says. */
export function knownRemedy({ code, message }: Pick<RequestRefusal, "code" | "message">): string | null {
  const [named, said] = [code.toLowerCase(), message.toLowerCase()];
  return ROWS.find((row) => (row.code === named || row.code === "*") && said.includes(row.words))?.remedy ?? null;
}

/** What an operator does about a refusal, as one clause. */
export const remedyFor = (refusal: RequestRefusal): string =>
  knownRemedy(refusal) ?? reasonFor(REASON_OF[refusal.kind]).remedy;
