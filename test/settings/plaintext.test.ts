import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { handler as createMapping } from "../../functions/api/create-mapping.ts";
import { handler as createToken } from "../../functions/api/create-token.ts";
import { handler as createWebhook } from "../../functions/api/create-webhook.ts";
import { handler as exportConfig } from "../../functions/api/export-config.ts";
import { handler as listTokens } from "../../functions/api/list-tokens.ts";
import { handler as listWebhooks } from "../../functions/api/list-webhooks.ts";
import { handler as readConnections } from "../../functions/api/read-connections.ts";
import { handler as readObject } from "../../functions/api/read-object.ts";
import { handler as rotateWebhookSecret } from "../../functions/api/rotate-webhook-secret.ts";
import { handler as setPostgres } from "../../functions/api/set-postgres.ts";
import { handler as setSalesforce } from "../../functions/api/set-salesforce.ts";
import { handler as testPostgres } from "../../functions/api/test-postgres.ts";
import { handler as testWebhook } from "../../functions/api/test-webhook.ts";
import { workspaces } from "../../functions/services/composition.ts";
import type { RouteName } from "../../lib/http/routes.ts";
import { QUEUES, type QueueName, TABLES } from "../../lib/model/resources.ts";
import { call, type Request } from "../support/clients/call.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { type ConnectedOrg, startConnectedOrg } from "../support/worlds/connected-org.ts";
import { createTestDatabase, type TestDatabase } from "../support/worlds/postgres.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";

const PASSWORD = "s3cret-of-the-database";

let cloud: BridgeCloud;
let org: ConnectedOrg;
let database: TestDatabase;
let workspace: TestWorkspace;
/** What the functions wrote to their logs. */
const logged: string[] = [];
beforeAll(async () => {
  for (const method of ["log", "info", "warn", "error"] as const) {
    vi.spyOn(console, method).mockImplementation((...parts) => void logged.push(parts.map(String).join(" ")));
  }
  cloud = await startBridgeCloud();
  org = await startConnectedOrg();
  database = await createTestDatabase();
  workspace = await createTestWorkspace();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await database.close();
  await org.close();
  await cloud.close();
});

type Handler = Parameters<typeof call>[0];

/** Every answer that is not meant to show a secret. */
const answered: string[] = [];
const ask = (handler: Handler, route: RouteName, request: Request = {}) =>
  call(handler, route, {
    token: workspace.token,
    ...request,
    path: { workspace_id: workspace.id, ...request.path },
  });

async function look(handler: Handler, route: RouteName, request: Request = {}): Promise<void> {
  answered.push((await ask(handler, route, request)).text);
}

async function databaseUrl(): Promise<string> {
  const { pathname } = new URL(database.url);
  await database.asSuperuser(
    `CREATE ROLE plain LOGIN PASSWORD '${PASSWORD}'; GRANT CREATE ON DATABASE "${pathname.slice(1)}" TO plain`,
  );
  const url = new URL(database.url);
  [url.username, url.password] = ["plain", PASSWORD];
  return url.href;
}

/** Does everything that involves a secret, the ways that fail too, and gives the secrets. */
async function handleSecrets(): Promise<readonly string[]> {
  const { credentials, loginUrl } = org.connection;
  if (credentials.kind !== "password") throw new Error("the local org is connected by password");
  const { clientId: client_id, clientSecret: client_secret, username, password, kind } = credentials;
  const url = await databaseUrl();
  await look(setPostgres, "set-postgres", { body: { url } });
  await look(setPostgres, "set-postgres", { body: { url: url.replace(PASSWORD, `${PASSWORD}-wrong`) } });
  await look(testPostgres, "test-postgres");
  const given = { kind, client_id, client_secret, username, password };
  await look(setSalesforce, "set-salesforce", { body: { login_url: loginUrl, credentials: given } });
  await look(setSalesforce, "set-salesforce", {
    body: { login_url: loginUrl, credentials: { ...given, password: `${password}-wrong` } },
  });
  await look(readConnections, "read-connections");
  await look(readObject, "read-object", { path: { object_name: "Contact" } });
  await look(createMapping, "create-mapping", { body: { sf_object: "Contact", fields: ["Email"] } });

  const made = await ask(createToken, "create-token", {
    body: { name: "ci", owner: "ada@example.com", scopes: ["read"] },
    headers: { "Idempotency-Key": "a-token" },
  });
  const hook = await ask(createWebhook, "create-webhook", {
    body: { url: "http://127.0.0.1:9/", events: ["sync.broken"] },
    headers: { "Idempotency-Key": "a-webhook" },
  });
  const { id, secret } = dataOf<{ id: string; secret: string }>(hook);
  const rotated = await ask(rotateWebhookSecret, "rotate-webhook-secret", { path: { webhook_id: id } });
  await look(testWebhook, "test-webhook", { path: { webhook_id: id } });
  for (const [handler, route] of [
    [listTokens, "list-tokens"],
    [listWebhooks, "list-webhooks"],
    [exportConfig, "export-config"],
  ] as const) {
    await look(handler, route);
  }
  const { token } = dataOf<{ token: string }>(made);
  const newer = dataOf<{ secret: string }>(rotated).secret;
  const opened = await (await workspaces().find(workspace.id))?.open();
  const session = opened?.salesforce?.accessToken ?? "";
  return [workspace.token, token, secret, newer, PASSWORD, client_secret, password, session];
}

test("no secret is readable in any table, message, log, audit entry, export or error", async () => {
  const secrets = await handleSecrets();

  const places = new Map<string, string>([
    ["the logs", logged.join("\n")],
    ["the answers", answered.join("\n")],
  ]);
  for (const name of Object.keys(TABLES)) {
    const { Items = [] } = await cloud.clients.documents.send(new ScanCommand({ TableName: `bridge-test-${name}` }));
    places.set(`table ${name}`, JSON.stringify(Items));
  }
  for (const name of Object.keys(QUEUES) as QueueName[]) {
    places.set(`queue ${name}`, JSON.stringify(await cloud.take(name)));
  }

  expect(new Set(secrets).size).toBe(secrets.length);
  expect(Math.min(...secrets.map(({ length }) => length))).toBeGreaterThan(8);
  expect(places.get("table audit")).toContain("connection.salesforce_authorized");
  const found = [...places].flatMap(([place, text]) =>
    secrets
      .flatMap((secret) => [secret, Buffer.from(secret).toString("base64"), encodeURIComponent(secret)])
      .filter((form) => text.includes(form))
      .map((form) => `${place} holds ${form.slice(0, 6)}…`),
  );
  expect(found).toEqual([]);
});

test("a secret in a table would be found", async () => {
  const { Items = [] } = await cloud.clients.documents.send(new ScanCommand({ TableName: "bridge-test-workspaces" }));

  expect(JSON.stringify(Items)).toContain(workspace.id);
});
