import { expect, test } from "vitest";
import { requestToken } from "../../../../lib/adapters/salesforce/session/request-token.ts";
import { failureOf } from "../../../../lib/sync/report/cycle-failure.ts";
import { orgConnection } from "../../../support/doubles/org-calls.ts";
import { aLyingOrg, org } from "../lying.ts";

aLyingOrg();

const oauth = (error: string, error_description?: string) => JSON.stringify({ error, error_description });
const PAGE = "<html><head><title>We are down for maintenance.</title></head><body></body></html>";

async function failureFor(status: number, body: string) {
  const type = body.startsWith("<") ? "text/html" : "application/json";
  org.answer((response) => response.writeHead(status, { "content-type": type }).end(body));
  const credentials = { kind: "refresh_token", clientId: "id", clientSecret: null, refreshToken: "token" } as const;
  const connection = { ...orgConnection(org.url, "ended"), credentials };
  return failureOf(await requestToken(connection, new Date()).catch((thrown: unknown) => thrown));
}

test.each([
  [400, oauth("unknown_error", "retry your request")], // amazon-connect/amazon-connect-salesforce-lambda#43
  [400, oauth("unknown_error")],
  [400, oauth("invalid_grant", "token request is already being processed")], // segmentio/action-destinations
  [400, oauth("invalid_request", "token request is already being processed")],
  [400, oauth("rate_limit_exceeded", "login rate exceeded")], // OAuth 2.0 Authorization Errors
  [400, oauth("invalid_grant", "login rate exceeded")],
  [403, oauth("LOGIN_RATE_EXCEEDED", "Login Rate Exceeded")],
  [400, oauth("server_error", "unexpected internal error")],
  [400, oauth("temporarily_unavailable")],
  [401, oauth("temporarily_unavailable")],
  [429, PAGE],
  [500, ""],
  [502, PAGE],
  [503, PAGE],
  [503, '[{"message":"The REST API is temporarily unavailable","errorCode":"SERVER_UNAVAILABLE"}]'],
  [200, ""],
  [200, PAGE],
  [400, ""], // a proxy's: Salesforce refuses credentials in words
  [403, PAGE],
  [404, PAGE],
])(
  "a token endpoint that answers %i %s has not refused the credentials: the next cycle asks again",
  async (...given) => {
    const failure = await failureFor(...given);

    expect(failure.reason).toBe("salesforce_unavailable");
    expect(failure.message).not.toMatch(/connect the workspace|report it/);
  },
);

test.each([
  [400, oauth("invalid_grant", "expired access/refresh token"), "salesforce_authorization"],
  [400, oauth("invalid_grant", "authentication failure"), "salesforce_authorization"],
  [400, oauth("invalid_client_id", "client identifier invalid"), "salesforce_authorization"],
  [401, oauth("invalid_client", "invalid client credentials"), "salesforce_authorization"],
  [400, oauth("inactive_user"), "salesforce_authorization"],
  [403, oauth("unauthorized_client"), "salesforce_authorization"],
  [403, '[{"errorCode":"REQUEST_LIMIT_EXCEEDED","message":"TotalRequests Limit exceeded."}]', "salesforce_limit"],
  [403, '[{"errorCode":"API_DISABLED_FOR_ORG","message":"API is not enabled for this Organization"}]', "api_disabled"],
])("a token endpoint that answers %i %s has refused them, or the org all calls: %s", async (status, body, reason) => {
  expect((await failureFor(status, body)).reason).toBe(reason);
});
