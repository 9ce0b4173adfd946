import type { RequestRefusal } from "./change/refusal.ts";
import { REASON_OF, reasonFor } from "./engine.ts";

/**
 * The cause of a refusal and what an operator does about it, by its code, or by `CODE … words` of its message where one
 * code means many things; `*` is any code. The first that fits counts. `lib/docs/connect-salesforce.md` has the same rows.
 */
export const REMEDIES: Readonly<Record<string, string>> = {
  "* … login rate exceeded":
    "the user logged in too often in the last hour, in which other clients may share: wait; Setup, Login History names them",
  "* … token request is already being processed":
    "another request renews the session at this moment: wait some seconds",
  "* … retry your request": "Salesforce could not answer at this moment: wait some seconds",
  invalid_client_id:
    "the app is not known: copy the consumer key of the connected or external client app in full; a new app needs ten minutes",
  "invalid_client … installed": "the app is not approved in this org: Setup, Connected Apps OAuth Usage, Install",
  invalid_client: "the secret is wrong: copy the app's consumer secret again, or let the app work without one",
  redirect_uri_mismatch: "the callback address is not the app's: add this very address to the app's callback URLs",
  unsupported_grant_type: "the flow is switched off: enable it in the app's OAuth settings",
  unauthorized_client:
    "the flow is switched off for this app or user: enable it in the app's OAuth settings and policies",
  "invalid_grant … approved this consumer":
    "the user is not pre-authorized: set the app's permitted users to 'Admin approved' and add the user's profile or a permission set",
  "invalid_grant … audience":
    "the app wants another audience: use the org's My Domain, https://….my.salesforce.com, as login URL",
  "invalid_grant … assertion":
    "the signature or its time is wrong: check that the certificate of this private key is uploaded to the app, and this machine's clock",
  "invalid_grant … code verifier": "the sign-in was begun elsewhere: begin the sign-in again",
  "invalid_grant … expired authorization code": "a code works once and for fifteen minutes: begin the sign-in again",
  "invalid_grant … used by another client":
    "connect the workspace to Salesforce again, and give each deployment a sign-in of its own",
  "invalid_grant … expired access/refresh token":
    "the refresh token was revoked, used or has expired: connect the workspace to Salesforce again",
  "invalid_grant … ip restricted":
    "the sign-in comes from an address that is not allowed: relax the app's IP restrictions, or allow this service's addresses (and hours) in the profile",
  "invalid_grant … password": "the user's password has expired: set a new one, then connect with it",
  "invalid_grant … inactive user": "the user is deactivated or frozen: activate it (Setup, Users)",
  "invalid_grant … locked": "the user is locked out after failed logins: unlock it (Setup, Users)",
  "invalid_grant … authentication failure":
    "the login was refused (the user's Login History says why): check user name and password with the security token behind it; new orgs have the password flow switched off",
  "invalid_grant … client credentials user":
    "the app has no user for the client credentials flow: set a Run As user in the app's policies",
  "* … not supported on this domain":
    "the flow does not work at this address: use the org's My Domain, https://….my.salesforce.com, as login URL",
  "invalid_request … domain":
    "the address is not the org's: use its My Domain, https://….my.salesforce.com, as login URL",
  "invalid_request … scope is required":
    "the app lacks a scope, or is not installed: add 'refresh_token, offline_access' to its scopes and pre-authorize the user",
  invalid_grant: "the app does not admit the user: check the app's OAuth settings and whom it admits",
  invalid_app_access:
    "the user is not approved for the app: assign it a permission set or profile in the app's policies",
  app_not_found:
    "the app is not installed in the org of this login URL: use the org's My Domain as login URL, or install the app there",
  invalid_scope: "the app has no fitting scope: give it 'api' and 'refresh_token, offline_access'",
  OAUTH_APP_BLOCKED: "the app is blocked: Setup, Connected Apps OAuth Usage, Unblock",
  inactive_user: "the user is deactivated or frozen: activate it (Setup, Users)",
  inactive_org: "the org is locked, closed or suspended: ask Salesforce",
  "INVALID_SESSION_ID … not valid for use":
    "the session may not use the API: give the app the scope 'api', and relax its IP restrictions",
  INVALID_SESSION_ID:
    "Salesforce ends each new session at once: check Setup, Session Settings (sessions locked to an address) and the user's Login History",
  INVALID_LOGIN: "the login was refused: the user's Login History in Setup says why",
  INVALID_OPERATION_WITH_EXPIRED_PASSWORD: "the user's password has expired: set a new one, then connect with it",
  LOGIN_DURING_RESTRICTED_DOMAIN:
    "the sign-in comes from an address that is not allowed: allow this service's addresses in the user's profile",
  LOGIN_DURING_RESTRICTED_TIME: "the user may not log in at this hour: extend the login hours of its profile",
  PASSWORD_LOCKOUT: "the user is locked out after failed logins: unlock it (Setup, Users)",
  "REQUEST_LIMIT_EXCEEDED … Concurrent":
    "the org runs too many long requests, other clients' included: wait, it is tried again with every cycle",
  API_DISABLED_FOR_ORG:
    "the org's edition or the user has no API access: give the user 'API Enabled', or buy the API from Salesforce; changes wait meanwhile",
  API_CURRENTLY_DISABLED:
    "the user has no API access, or Salesforce has switched it off: give the user 'API Enabled', or ask Salesforce; changes wait meanwhile",
  ORG_LOCKED: "the org is locked: ask Salesforce; changes wait meanwhile",
  TRIAL_EXPIRED: "the org's trial has ended: ask Salesforce; changes wait meanwhile",
  CLIENT_NOT_ACCESSIBLE_FOR_USER:
    "API Access Control admits approved apps only: install the app and assign it to the user",
  TXN_SECURITY_NO_ACCESS:
    "a transaction security policy forbids it: exempt the user (Setup, Transaction Security Policies)",
  FUNCTIONALITY_NOT_ENABLED:
    "the org or the user lacks a feature: enable what Salesforce names in Setup, or ask Salesforce",
  INSUFFICIENT_ACCESS_OR_READONLY:
    "the user may not change this: give it edit access to the object and the record, by a permission set",
  FORBIDDEN: "the user may not ask for this: give it access to the object that Salesforce names",
  UNSUPPORTED_API_VERSION:
    "Salesforce no longer speaks the API version of the connection: connect the workspace to Salesforce again, which takes the newest",
  "NOT_FOUND … external ID field":
    "the upsert field is gone or hidden: make it an External ID again and give the user access, or choose another upsert field",
  OPERATION_TOO_LARGE:
    "Salesforce would have to check too many records for this user: give it View All Data, or View All of the object",
  QUERY_TIMEOUT:
    "the query takes the org too long: wait, it is tried again in smaller parts; if it stays, ask Salesforce for an index of SystemModstamp",
  MALFORMED_QUERY:
    "Salesforce does not understand the query: correct the mapping's filter; without one, report the cycle's line",
  INVALID_QUERY_FILTER_OPERATOR:
    "the filter compares a field in a way that it does not allow: correct the mapping's filter",
  UNKNOWN_EXCEPTION:
    "Salesforce failed inside: wait, it is tried again with every cycle; if it stays, give Salesforce Support the ErrorId",
  FOREIGN_INSTANCE: "the token endpoint is not Salesforce's: check the login URL",
  UNREACHABLE:
    "the org does not answer: wait, it is tried again; if it stays, check the login URL, the network and any proxy",
  NOT_SALESFORCE:
    "another server has answered: check the login URL, and any proxy before the org; status.salesforce.com lists outages",
  BROKEN_ANSWER:
    "the answer was cut off or changed: wait, it is tried again; if it stays, check any proxy before the org",
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
