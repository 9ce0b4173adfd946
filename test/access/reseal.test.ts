import {
  CreateAliasCommand,
  CreateKeyCommand,
  DeleteAliasCommand,
  DescribeKeyCommand,
  DisableKeyCommand,
  EnableKeyCommand,
} from "@aws-sdk/client-kms";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import {
  connections,
  database,
  freshVault,
  now,
  pepper,
  repeats,
  vault,
  webhooks,
  workspaces,
} from "../../functions/services/composition.ts";
import { connections as connectionsIn } from "../../lib/adapters/dynamodb/access/connections.ts";
import { pepper as pepperIn } from "../../lib/adapters/dynamodb/access/pepper.ts";
import { repeats as repeatsIn } from "../../lib/adapters/dynamodb/access/repeats.ts";
import { resealAll } from "../../lib/adapters/dynamodb/access/reseal.ts";
import { webhookItem } from "../../lib/adapters/dynamodb/delivery/webhook-item.ts";
import { auditEntry } from "../../lib/model/workspace/audit.ts";
import { DEPLOYMENT } from "../../lib/model/workspace/pause.ts";
import type { SalesforceConnection } from "../../lib/model/workspace/workspace.ts";
import { auditedIn } from "../support/clients/audit-page.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { createTestWorkspace } from "../support/worlds/workspace.ts";
import { operator } from "./operator.ts";

const ALIAS = "alias/bridge-test";
const postgres = { url: "postgres://u@db.example.com/app", schema: "salesforce" };
const salesforce: SalesforceConnection = {
  loginUrl: "https://acme.my.salesforce.com",
  instanceUrl: "https://acme.my.salesforce.com",
  organizationId: "00D000000000001AAA",
  userId: "005000000000001AAA",
  formerUserIds: [],
  apiVersion: "68.0",
  credentials: { kind: "client_credentials", clientId: "id", clientSecret: "secret" },
  accessToken: "00D000000000001!first",
};
const webhook = { id: "whk_1", url: "https://example.com/hook", events: [], description: "", active: true } as const;

let cloud: BridgeCloud;
let workspaceId: string;
beforeEach(async () => {
  cloud = await startBridgeCloud();
  ({ id: workspaceId } = await createTestWorkspace({ postgres, salesforce }));
  const seal = (text: string) => vault().seal(workspaceId, text);
  const until = new Date(cloud.clock.now() + 600_000);
  const secrets = {
    current: await seal("now"),
    previous: [
      { secret: await seal("first"), until },
      { secret: await seal("second"), until },
    ],
  };
  const health = { failingSince: null, slowUntil: null };
  const times = { createdAt: now(), updatedAt: now(), version: 1 };
  const item = webhookItem({ ...webhook, ...times, ...health, workspaceId, secrets });
  const Item = { ...item, next_secret: await seal("next") }; // as versions up to 0.3.1 keep a prepared one
  await database().client.send(new PutCommand({ TableName: database().table("webhooks"), Item }));
  const pending = { loginUrl: "https://login.example.com", clientId: "c", clientSecret: null };
  const authorization = { ...pending, redirectUri: "https://example.com", codeVerifier: "v" };
  await connections().keepAuthorization(workspaceId, "state", authorization, until);
  await repeats().begin(NAMED(), now());
  await repeats().keep(NAMED(), { statusCode: 200, headers: {}, body: "kept" }, now());
});
afterEach(() => cloud.close());

const NAMED = () => ({ workspaceId, tokenId: "tok_1", key: "k", fingerprint: "f" });

test("after a change of the key every secret is opened by the new key alone", async () => {
  await pepper().readOrCreate();
  await operator().run(["operator", "rotate-pepper"]);
  const former = await replaceKey();

  const { resealed, remaining } = await operator().json<{ resealed: number; remaining: unknown[] }>([
    ...["operator", "reseal", "--by", "ada@example.com"],
  ]);
  await disable(former);

  // Two peppers, two connections, a sign-in, four secrets of a webhook, an answer.
  expect([resealed, remaining]).toEqual([10, []]);
  expect(await opened()).toEqual(["first", "next", "now", "second"]);
  const kept = connectionsIn(database(), freshVault());
  expect((await kept.read(workspaceId))?.connection).toEqual(salesforce);
  expect(await kept.takeAuthorization(workspaceId, "state", now())).toMatchObject({ codeVerifier: "v" });
  const answered = await repeatsIn(database(), freshVault()).begin(NAMED(), now());
  expect(answered).toMatchObject({ state: "done", answer: { body: "kept" } });
  expect(await pepperIn(database(), freshVault(), now).read()).not.toBeNull();
  const { entries } = await auditedIn(DEPLOYMENT, "secrets.resealed", 5);
  expect(entries).toMatchObject([{ actor: "ada@example.com", detail: { resealed: 10, remaining: 0 } }]);
});

test("what no key opens is listed by workspace and kind, and the rest is sealed again", async () => {
  await disable(await replaceKey());
  const other = await createTestWorkspace();
  await connectionsIn(database(), freshVault()).setSalesforce(other.id, salesforce, entryOf(other.id));

  const { code, stdout, stderr } = await operator().run(["operator", "reseal", "--json"]);

  const { resealed, remaining } = JSON.parse(stdout) as { resealed: number; remaining: { kind: string }[] };
  expect(code).toBe(10);
  expect(resealed).toBeGreaterThan(0);
  expect(remaining).toContainEqual({
    ...{ workspace_id: workspaceId, kind: "database URL", reason: expect.stringContaining("DisabledException") },
  });
  expect(stderr).toContain(`${workspaceId}: replaced webhook secret: DisabledException`);
});

test("a session that is renewed meanwhile, and a connection that is changed, are not overwritten", async () => {
  const renewed = { ...salesforce, accessToken: "00D000000000001!second" };
  const read = await connections().read(workspaceId);
  if (!read) throw new Error("the workspace is not connected");
  let hasRun = false;
  const meanwhile = async () => {
    if (hasRun) return;
    hasRun = true;
    await connections().keep(workspaceId, read.version, renewed);
    await connections().changePostgres(workspaceId, () => ({
      ...{ connection: { ...postgres, schema: "another" }, entry: entryOf(workspaceId) },
    }));
  };
  const fresh = freshVault();
  const seal = async (owner: string, text: string) => {
    if (text.includes("salesforce.com") && text.includes("!first")) await meanwhile();
    return fresh.seal(owner, text);
  };

  const { remaining } = await resealed({ ...fresh, seal });

  expect([hasRun, remaining]).toEqual([true, []]);
  expect((await connections().read(workspaceId))?.connection).toEqual(renewed);
  expect((await (await workspaces().find(workspaceId))?.open())?.postgres?.schema).toBe("another");
});

const resealed = (by = freshVault()) =>
  resealAll({ database: database(), vault: by, now, onProgress: () => undefined });

const entryOf = (id: string) =>
  auditEntry({ workspaceId: id, actor: "ada@example.com", at: now() }, "connection.postgres_changed", id, {});

/** Puts another key behind the alias; gives the one before. */
async function replaceKey(): Promise<string | undefined> {
  const { kms } = cloud.clients;
  const { KeyMetadata: former } = await kms.send(new DescribeKeyCommand({ KeyId: ALIAS }));
  const { KeyMetadata: next } = await kms.send(new CreateKeyCommand({}));
  await kms.send(new DeleteAliasCommand({ AliasName: ALIAS }));
  await kms.send(new CreateAliasCommand({ AliasName: ALIAS, TargetKeyId: next?.KeyId }));
  return former?.KeyId;
}

/** Until the test is over: the next one has the same cloud. */
async function disable(KeyId: string | undefined): Promise<void> {
  const { kms } = cloud.clients;
  onTestFinished(async () => void (await kms.send(new EnableKeyCommand({ KeyId }))));
  await kms.send(new DisableKeyCommand({ KeyId }));
}

/** The secrets of the webhook, opened by a process that knows no data key. */
async function opened(): Promise<readonly string[]> {
  const [kept] = await webhooks().list(workspaceId);
  if (!kept) throw new Error("there is no webhook");
  const sealed = [kept.secrets.current, ...kept.secrets.previous.map(({ secret }) => secret)];
  const by = freshVault();
  return (await Promise.all(sealed.map((text) => by.open(workspaceId, text)))).toSorted();
}
