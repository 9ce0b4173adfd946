import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json as jsonOf } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { openSession } from "../../lib/adapters/postgres/session/session.ts";
import { failureOf } from "../../lib/sync/report/cycle-failure.ts";
import { askingIn } from "../support/clients/ask.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { createTestDatabase, type TestDatabase } from "../support/worlds/postgres.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";

const ARN = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:rds!db-1a2b-AbCdEf";

let cloud: BridgeCloud;
let database: TestDatabase;
let manager: Awaited<ReturnType<typeof startSecretsManager>>;
let workspace: TestWorkspace;
const folder = mkdtempSync(join(tmpdir(), "bridge-kept-"));
const file = join(folder, "url");
/** A role that may make its schema, with a password that rotates. */
let role: string;
let rotations = 0;

beforeAll(async () => {
  cloud = await startBridgeCloud();
  database = await createTestDatabase();
  manager = await startSecretsManager();
  vi.stubEnv("AWS_ENDPOINT_URL_SECRETS_MANAGER", manager.endpoint);
  vi.stubEnv("CREDENTIAL_COMMANDS", JSON.stringify({ shop: `cat ${file}`, broken: "exit 3" }));
});
afterAll(async () => {
  manager.close();
  await database.close();
  await cloud.close();
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  rotations += 1;
  role = `app_${rotations}_${new URL(database.url).pathname.slice(-8)}`;
  workspace = await createTestWorkspace();
  const name = new URL(database.url).pathname.slice(1);
  await database.asSuperuser(`CREATE ROLE ${role} LOGIN; GRANT CREATE ON DATABASE ${name} TO ${role}`);
  return () => database.asSuperuser(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`);
});

/** Gives the role another password, as a rotation does, which ends the one before. */
async function rotate(): Promise<string> {
  rotations += 1;
  await database.asSuperuser(`ALTER ROLE ${role} PASSWORD 'pw-${rotations}!/?'`);
  return `pw-${rotations}!/?`;
}

/** The database's URL with other parameters, without credentials. */
function urlWith(parameters: Readonly<Record<string, string>>): string {
  const url = Object.assign(new URL(database.url), { username: "", password: "" });
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

const fullUrl = (password: string) =>
  Object.assign(new URL(database.url), { username: role, password: encodeURIComponent(password) }).href;

const ask = askingIn(() => workspace);
const put = (url: string) => ask("set-postgres", { body: { url } });
const view = () => ask("read-connections");
const whoIs = async (url: string) => {
  const session = await openSession({ url, schema: "salesforce" });
  const [row] = await session.query("SELECT current_user::text AS name");
  await session.close();
  return row?.["name"];
};

const tagged = (value: string) => manager.secrets.set(ARN, { value, tags: { "bridge-workspace": workspace.id } });

const keepPassword = (password: string) =>
  tagged(JSON.stringify({ username: role, password, host: "elsewhere.example" }));

test.each<[string, string | null, (password: string) => unknown]>([
  ["a secret of AWS with user and password", null, keepPassword],
  ["a secret that is a URL", null, (password) => tagged(fullUrl(password))],
  [
    "a command that prints a URL",
    "postgres://heroku/shop?command=shop",
    (password) => writeFileSync(file, `${fullUrl(password)}\n`),
  ],
])("%s is read again after a rotation, without a person", async (_, byCommand, keep) => {
  keep(await rotate());
  const url = byCommand ?? urlWith({ secret: ARN });

  expect((await put(url)).json?.data).toMatchObject({ ok: true });
  const before = { ...manager.asked };
  expect([await whoIs(url), await whoIs(url)]).toEqual([role, role]);
  expect(manager.asked).toEqual(before);
  keep(await rotate());

  expect(await whoIs(url)).toBe(role);
  expect((await ask("test-postgres")).json?.data).toMatchObject({ ok: true });
  expect((await view()).text).not.toContain("pw-");
});

test("while what is kept is not the new password yet, cycles say that the database refuses it, and ask once each", async () => {
  keepPassword(await rotate());
  const url = urlWith({ secret: ARN, application_name: "lagging" });
  expect(await whoIs(url)).toBe(role);
  await rotate();
  const before = manager.asked["GetSecretValue"] ?? 0;

  const refused = await whoIs(url).catch((error: unknown) => failureOf(error));

  expect(refused).toMatchObject({ reason: "postgres_unavailable", message: expect.stringContaining("password") });
  expect(manager.asked["GetSecretValue"]).toBe(before + 1);
});

test("a server without a connection left is asked again by the credentials that are known", async () => {
  keepPassword(await rotate());
  const url = urlWith({ secret: ARN, application_name: "crowded" });
  expect(await whoIs(url)).toBe(role);
  await database.asSuperuser(`ALTER ROLE ${role} CONNECTION LIMIT 0`);
  const before = { ...manager.asked };

  await expect(whoIs(url)).rejects.toMatchObject({ code: "53300" });

  expect(manager.asked).toEqual(before);
});

const theirs = { value: "{}", tags: { "bridge-workspace": "other" } };

test.each([
  ["a secret of another workspace", { secret: ARN }, () => theirs, /tag it with bridge-workspace=/],
  ["a secret that may not be read", { secret: ARN }, () => ({ ...theirs, tags: {} }), /AccessDeniedException.*tag it/],
  ["a secret that is not there", { secret: ARN }, () => null, /ResourceNotFoundException/],
  ["a secret without credentials", { secret: ARN }, () => tagged("{}"), /neither a postgres:\/\/ URL nor JSON/],
  ["a command that is not the operator's", { command: "printenv" }, () => null, /name it in CREDENTIAL_COMMANDS/],
  ["a command that fails", { command: "broken" }, () => null, /exit code 3; run it by hand/],
])("%s connects nothing, and says what helps", async (_, parameters, keep, sentence) => {
  manager.secrets.delete(ARN);
  const secret = keep();
  if (secret !== null && "value" in secret) manager.secrets.set(ARN, secret);

  const { status, json } = await put(urlWith({ ...parameters, options: String(rotations) }));

  expect(status).toBe(400);
  expect(JSON.stringify(json?.error)).toMatch(sentence);
  expect((await view()).json?.data).toMatchObject({ postgres: null });
});

test.each([
  ["both places", `postgres://db.example/app?secret=${ARN}&command=shop`],
  ["a place and a password", "postgres://ada:secret@db.example/app?command=shop"],
  ["a name that is no ARN", "postgres://db.example/app?secret=shop"],
  ["a command in place of its name", "postgres://db.example/app?command=cat%20/etc/passwd"],
])("a URL with %s is refused by its field", async (_, url) => {
  expect((await put(url)).json?.error).toMatchObject({ code: "VALIDATION_ERROR", details: [{ path: "body.url" }] });
});

test("on one machine a secret of AWS is refused with what there is instead", async () => {
  vi.stubEnv("AWS_ENDPOINT_URL_SECRETS_MANAGER", "");

  const { json } = await put(urlWith({ secret: ARN }));

  expect(JSON.stringify(json?.error)).toContain("name a command in the URL instead");
  vi.stubEnv("AWS_ENDPOINT_URL_SECRETS_MANAGER", manager.endpoint);
});

/** Secrets Manager, of which a test changes the secrets, by ARN; a secret without tags may not be read. */
async function startSecretsManager() {
  const secrets = new Map<string, { readonly value: string; readonly tags: Readonly<Record<string, string>> }>();
  /** How often each action was asked for. */
  const asked: Record<string, number> = {};
  const server = createServer(async (request, response) => {
    const action = String(request.headers["x-amz-target"]).replace("secretsmanager.", "");
    const { SecretId } = (await jsonOf(request)) as { SecretId: string };
    asked[action] = (asked[action] ?? 0) + 1;
    const secret = secrets.get(SecretId);
    const refusal = !secret
      ? "ResourceNotFoundException"
      : Object.keys(secret.tags).length === 0
        ? "AccessDeniedException"
        : null;
    response.writeHead(refusal ? 400 : 200, { "content-type": "application/x-amz-json-1.1" });
    const Tags = Object.entries(secret?.tags ?? {}).map(([Key, Value]) => ({ Key, Value }));
    const answers: Record<string, object> = {
      GetSecretValue: { ARN: SecretId, SecretString: secret?.value },
      DescribeSecret: { ARN: SecretId, Tags },
    };
    response.end(JSON.stringify(refusal ? { __type: refusal, Message: refusal } : answers[action]));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    ...{ endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, secrets, asked },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
