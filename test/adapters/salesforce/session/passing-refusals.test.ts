import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { requestToken } from "../../../../lib/adapters/salesforce/session/request-token.ts";
import type { SalesforceConnection } from "../../../../lib/model/workspace/workspace.ts";
import { failureOf } from "../../../../lib/sync/report/cycle-failure.ts";

/** A token endpoint that gives one answer to all. */
let host: Server;
let connection: SalesforceConnection;
let answer = { status: 200, body: "", type: "application/json" };

beforeAll(async () => {
  host = createServer((_, response) =>
    response.writeHead(answer.status, { "content-type": answer.type }).end(answer.body),
  ).listen(0, "127.0.0.1");
  await once(host, "listening");
  const loginUrl = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  const credentials = { kind: "refresh_token", clientId: "id", clientSecret: null, refreshToken: "token" } as const;
  const org = { organizationId: "00D000000000001AAA", userId: "005000000000001AAA", formerUserIds: [] };
  connection = { loginUrl, instanceUrl: loginUrl, ...org, apiVersion: "66.0", credentials, accessToken: "ended" };
});
afterAll(() => host.close().closeAllConnections());

const oauth = (error: string, error_description?: string) => JSON.stringify({ error, error_description });
const PAGE = "<html><head><title>We are down for maintenance.</title></head><body></body></html>";

async function failureFor(status: number, body: string) {
  answer = { status, body, type: body.startsWith("<") ? "text/html" : "application/json" };
  const error = await requestToken(connection, new Date()).catch((thrown: unknown) => thrown);
  return failureOf(error);
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
  [400, oauth("invalid_grant", "expired access/refresh token")],
  [400, oauth("invalid_grant", "authentication failure")],
  [400, oauth("invalid_client_id", "client identifier invalid")],
  [401, oauth("invalid_client", "invalid client credentials")],
  [400, oauth("inactive_user")],
  [403, oauth("unauthorized_client")],
])("a token endpoint that answers %i %s has refused them", async (...given) => {
  expect((await failureFor(...given)).reason).toBe("salesforce_authorization");
});

test.each([
  ["REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded.", "salesforce_limit"],
  ["API_DISABLED_FOR_ORG", "API is not enabled for this Organization or Partner", "api_disabled"],
])("a token endpoint that answers with the org's own %s says it of the org", async (errorCode, message, reason) => {
  expect((await failureFor(403, JSON.stringify([{ errorCode, message }]))).reason).toBe(reason);
});
