import type { RequestRefusal } from "../model/change/refusal.ts";

/** What an operator does about a refusal of the token endpoint: by code, and by words where one code means many things. */
const REMEDIES: readonly (readonly [code: string, words: RegExp, remedy: string])[] = [
  [
    "invalid_client_id",
    /./,
    "copy the consumer key of the connected or external client app in full; a new app needs ten minutes",
  ],
  ["invalid_client", /./, "copy the app's consumer secret again, or let the app work without one"],
  ["redirect_uri_mismatch", /./, "add this very callback address to the app's callback URLs"],
  ["unsupported_grant_type", /./, "switch this flow on in the app's OAuth settings"],
  [
    "invalid_grant",
    /approved this consumer/i,
    "pre-authorize the user: set the app's permitted users to 'Admin approved' and add the user's profile or a permission set",
  ],
  [
    "invalid_grant",
    /audience/i,
    "use https://login.salesforce.com, or https://test.salesforce.com for a sandbox, as login URL",
  ],
  [
    "invalid_grant",
    /assertion/i,
    "check that the certificate of this private key is uploaded to the app, and this machine's clock",
  ],
  ["invalid_grant", /code verifier/i, "begin the sign-in again"],
  [
    "invalid_grant",
    /expired authorization code/i,
    "begin the sign-in again: a code works once and for fifteen minutes",
  ],
  ["invalid_grant", /expired access\/refresh token/i, "the refresh token was revoked or has expired: sign in again"],
  [
    "invalid_grant",
    /ip restricted/i,
    "relax the app's IP restrictions, or allow this service's addresses in the profile",
  ],
  [
    "invalid_grant",
    /authentication failure/i,
    "check user name and password with the security token behind it; new orgs have the password flow switched off",
  ],
  [
    "invalid_grant",
    /no client credentials user|not supported on this domain/i,
    "set a run-as user for the client credentials flow in the app",
  ],
  ["invalid_grant", /inactive user/i, "activate the user in the org's setup"],
  ["invalid_grant", /inactive organization/i, "the org is locked, closed or suspended: ask Salesforce"],
  ["invalid_grant", /./, "check the app's OAuth settings and whom it admits"],
  ["invalid_request", /domain/i, "use the org's My Domain, https://….my.salesforce.com, as login URL"],
  ["inactive_user", /./, "activate the user in the org's setup"],
  ["inactive_org", /./, "the org is locked, closed or suspended: ask Salesforce"],
  ["rate_limit_exceeded", /./, "the user logged in too often this hour: wait, then try again"],
  ["invalid_scope", /./, "give the app the scopes 'api' and 'refresh_token, offline_access'"],
  ["UNREACHABLE", /./, "check the login URL and the network"],
  ["NOT_SALESFORCE", /./, "check the login URL, and any proxy before the org"],
  ["BROKEN_ANSWER", /./, "check the login URL, and any proxy before the org"],
];

/** A refusal in words: what Salesforce said, and what to do about it. */
export function explainRefusal({ code, message }: RequestRefusal): string {
  const remedy = REMEDIES.find(([known, words]) => known === code && words.test(message))?.[2];
  const said = `Salesforce refused: ${message} (${code})`;
  return remedy === undefined ? said : `${said}; ${remedy}`;
}
