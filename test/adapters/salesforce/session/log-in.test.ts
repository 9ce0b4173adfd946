import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { orgLogin } from "../../../../lib/adapters/salesforce/session/log-in.ts";

/** A host that is no org's. */
let host: Server;
let url = "";
let body = "";

beforeAll(async () => {
  host = createServer((_, response) => response.end(body)).listen(0, "127.0.0.1");
  await once(host, "listening");
  url = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
});
afterAll(() => host.close().closeAllConnections());

const CREDENTIALS = { kind: "client_credentials", clientId: "id", clientSecret: "secret" } as const;

const REQUESTS = {
  logIn: () => orgLogin.logIn(url, CREDENTIALS, new Date()),
  identify: () =>
    orgLogin.identify({
      accessToken: "session",
      instanceUrl: url,
      refreshToken: null,
      userId: null,
      organizationId: null,
    }),
  versions: () => orgLogin.versions(url),
};

test.each(
  Object.entries(REQUESTS).flatMap(([name, ask]) =>
    ['{"status": "ok", "token": "a-secret"}', "It works! a-secret", ""].map((text) => [name, text, ask] as const),
  ),
)("%s at a host that answers %j says that it is no Salesforce org, and nothing of the answer", async (_, text, ask) => {
  body = text;
  const message = `${new URL(url).host} does not answer like a Salesforce org`;
  const refusal = { kind: "transient", code: "NOT_SALESFORCE", message, mayHaveRun: false };
  await expect(ask()).rejects.toMatchObject({ refusal });
});
