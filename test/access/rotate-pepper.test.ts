import { GetCommand, ScanCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { handler as listTokens } from "../../functions/api/list-tokens.ts";
import {
  database,
  freshVault,
  now,
  pepper,
  rateLimits,
  repeats,
  tokens,
  vault,
  workspaces,
} from "../../functions/services/composition.ts";
import { cacheTokens } from "../../lib/access/cache.ts";
import type { TokenHash } from "../../lib/access/ports.ts";
import { tokenHash } from "../../lib/access/token.ts";
import { pepper as pepperIn } from "../../lib/adapters/dynamodb/access/pepper.ts";
import { pepperRotation } from "../../lib/adapters/dynamodb/access/pepper-rotation.ts";
import { tokens as tokensIn } from "../../lib/adapters/dynamodb/access/tokens.ts";
import type { Database } from "../../lib/adapters/dynamodb/client/client.ts";
import { lambda } from "../../lib/http/lambda.ts";
import { auditEntry } from "../../lib/model/workspace/audit.ts";
import { DEPLOYMENT } from "../../lib/model/workspace/pause.ts";
import { askingIn } from "../support/clients/ask.ts";
import { auditPage } from "../support/clients/audit-page.ts";
import { call } from "../support/clients/call.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";
import { operator } from "./operator.ts";

let cloud: BridgeCloud;
let own: TestWorkspace;
beforeEach(async () => {
  cloud = await startBridgeCloud();
  days += 1;
  await cloud.clock.advance({ minutes: days * 1440 }); // what this process has cached of the test before is over
  own = await createTestWorkspace();
});
afterEach(() => cloud.close());
let days = 0;
beforeAll(() => {
  process.env["BASE_URL"] = "https://bridge.example.com";
});
afterAll(() => {
  delete process.env["BASE_URL"];
});

const list = (token: string, handler: Parameters<typeof call>[0] = listTokens) =>
  call(handler, "list-tokens", { token, path: { workspace_id: own.id } });

/** The same handler in a process of its own, with nothing cached. */
function anotherProcess(): (token: string) => ReturnType<typeof list> {
  const gate = {
    tokens: cacheTokens(tokensIn(database()), now),
    pepper: pepperIn(database(), freshVault(), now),
    workspaces: workspaces(),
    rateLimits: rateLimits(),
    repeats: repeats(),
    requestsPerMinute: 300,
    now,
  };
  const handler = lambda(listTokens.endpoint, () => gate);
  return (token) => list(token, handler);
}

const rotate = (...more: readonly string[]) => operator().run(["operator", "rotate-pepper", ...more]);

/** A rotation whose pepper is in use. */
async function rotated(): Promise<void> {
  expect((await rotate("--by", "ada@example.com")).code).toBe(0);
  await cloud.clock.advance({ minutes: 2 });
}

async function stored(): Promise<readonly Record<string, unknown>[]> {
  const { Items = [] } = await database().client.send(new ScanCommand({ TableName: database().table("tokens") }));
  return Items;
}

describe("after a rotation of the pepper", () => {
  test("a token keeps working, also where a process began before, and so does a new one", async () => {
    const elsewhere = anotherProcess();
    expect((await elsewhere(own.token)).status).toBe(200);
    const [was] = dataOf<readonly object[]>(await list(own.token));

    await rotate();
    await cloud.clock.advance({ seconds: 4 }); // tokens are cached for three
    const announced = [await anotherProcess()(own.token), await elsewhere(own.token)];
    const [unmoved] = await stored();
    await cloud.clock.advance({ minutes: 2 });
    const used = await list(own.token);
    const made = await own.tokenWith(["admin"]);

    expect(announced.map(({ status }) => status)).toEqual([200, 200]);
    expect(unmoved).toMatchObject({ pepper: 1 });
    expect(dataOf<readonly object[]>(used)).toEqual([{ ...was, last_used_at: now().toISOString() }]);
    expect((await stored()).map((item) => item["pepper"])).toEqual([2, 2]);
    expect((await stored()).map(({ pk }) => pk)).not.toContain(unmoved?.["pk"]);
    expect((await elsewhere(own.token)).status).toBe(200);
    expect((await elsewhere(made)).status).toBe(200);
  });

  test("a token that was revoked or has expired stays so", async () => {
    const revoked = await own.tokenWith(["admin"]);
    const expired = await own.tokenWith(["admin"], new Date(cloud.clock.now() + 60_000));
    const all = await tokens().list(own.id);
    await revoke(all.find(({ name, validUntil }) => name === "another" && validUntil === null)?.id ?? "");

    await rotated();
    const answers = await Promise.all([list(revoked), list(expired)]);

    expect(answers.map(({ status }) => status)).toEqual([401, 401]);
  });

  test("of processes that move a token at once each finds it, and it is kept once", async () => {
    const hashes = await hashesAfterRotation();

    const meeting = meet(
      (command) => command instanceof GetCommand && command.input.Key?.["pk"] === hashes[1].hash,
      () => tokensIn(database()).find(...hashes),
    );

    const first = await tokensIn(meeting).find(...hashes); // which another process moves between the two look-ups
    const found = await Promise.all(Array.from({ length: 8 }, () => tokensIn(database()).find(...hashes)));

    expect(first).toMatchObject({ workspaceId: own.id });
    expect(new Set(found.map((token) => token?.workspaceId))).toEqual(new Set([own.id]));
    expect(await stored()).toMatchObject([{ pk: hashes[0].hash, pepper: 2 }]);
    await tokensIn(database()).touch(hashes[1], now()); // of a request that found it before it moved
    expect(await stored()).toHaveLength(1);
  });

  test.each([
    ["a revocation", 0, { revokedAt: expect.any(Date) }],
    ["an end that is set", 60_000, { revokedAt: null, validUntil: expect.any(Date) }],
  ])("%s that meets a move holds", async (_, inMilliseconds, ending) => {
    const hashes = await hashesAfterRotation();
    const { id } = (await tokens().list(own.id))[0] ?? { id: "" };
    const end = (there: Database) => {
      const at = now();
      const entry = auditEntry({ workspaceId: own.id, actor: "ada@example.com", at }, "token.revoked", id, {});
      return tokensIn(there).revoke(own.id, id, new Date(at.getTime() + inMilliseconds), entry);
    };
    const writes = (command: unknown) => command instanceof TransactWriteCommand;

    const moving = await tokensIn(meet(writes, () => end(database()))).find(...hashes);
    const moved = await tokensIn(database()).find(...hashes);

    expect([moving, moved]).toMatchObject([ending, ending]);
  });

  test("a revocation ends a token that a request moves meanwhile", async () => {
    const hashes = await hashesAfterRotation();
    const { id } = (await tokens().list(own.id))[0] ?? { id: "" };
    const entry = auditEntry({ workspaceId: own.id, actor: "system", at: now() }, "token.revoked", id, {});
    const meeting = meet(
      (command) => command instanceof TransactWriteCommand,
      () => tokensIn(database()).find(...hashes),
    );

    expect(await tokensIn(meeting).revoke(own.id, id, now(), entry)).toMatchObject({ revokedAt: now() });
    expect(await tokensIn(database()).find(...hashes)).toMatchObject({ revokedAt: now() });
  });

  test("a doorbell rings by the URL that the org has and by the next, and the API says which is outdated", async () => {
    const url = await doorbellUrl();
    await rotated();

    const outdated = await doorbellState();
    const next = await doorbellUrl();

    expect([outdated, await doorbellState()]).toEqual([true, false]);
    expect(next).not.toBe(url);
    expect(await doorbellUrl()).toBe(next);
    expect(await Promise.all([rings(url), rings(next)])).toEqual([200, 200]);
    expect(await formerDoorbells()).toEqual([]);
  });
});

describe("the end of the former pepper", () => {
  test("names what it ends, asks, and leaves what has moved", async () => {
    const quiet = await own.tokenWith(["admin"]);
    await list(quiet);
    const lastUsed = now().toISOString();
    const url = await doorbellUrl();
    await rotated();
    await list(own.token);

    const asked = await rotate("--finish");
    const { code, stdout } = await rotate("--finish", "--yes", "--by", "ada@example.com", "--json");
    await cloud.clock.advance({ minutes: 1 });

    expect(asked).toMatchObject({ code: 2 });
    expect(asked.stderr).toContain(`Token another (tok_`);
    expect(asked.stderr).toContain(`of owner@example.com in ${own.id} ends; last used ${lastUsed}`);
    expect(asked.stderr).toContain(`The doorbell of ${own.id} ends`);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { tokens_revoked: 1, doorbells: [{ workspace_id: own.id }] }]);
    expect((await list(quiet)).status).toBe(401);
    expect((await list(own.token)).status).toBe(200);
    expect(await rings(url)).toBe(404);
    expect(await rings(await doorbellUrl())).toBe(200);
    const ended = (await tokens().list(own.id)).map(({ name, revokedAt }) => [name, revokedAt !== null]);
    expect(ended.toSorted()).toEqual([
      ["another", true],
      ["first token", false],
    ]);
    expect(await audited(DEPLOYMENT)).toMatchObject([
      { action: "pepper.former_ended", actor: "ada@example.com", detail: { tokens_revoked: 1 } },
      { action: "pepper.rotated", actor: "ada@example.com" },
      { action: "workspace.created" },
    ]);
    expect((await audited(own.id)).map(({ action }) => action)).toContain("token.revoked");
  });

  test("has to come before the next rotation, and after the new pepper is in use", async () => {
    const none = await rotate("--finish", "--yes");
    await rotate();
    const tooSoon = await rotate("--finish", "--yes");
    await cloud.clock.advance({ minutes: 2 });
    const again = await rotate();
    const ended = await rotate("--finish", "--yes");
    const next = await rotate();
    await cloud.clock.advance({ minutes: 2 });

    expect([none.code, tooSoon.code, again.code, ended.code, next.code]).toEqual([7, 7, 7, 0, 0]);
    expect(none.stderr).toContain("no former pepper is kept");
    expect(tooSoon.stderr).toContain("the new pepper is used from 20");
    expect(again.stderr).toContain("bridge operator rotate-pepper --finish");
    const made = await own.tokenWith(["admin"]);
    expect((await list(made)).status).toBe(200);
    expect((await stored()).map((item) => item["pepper"]).toSorted()).toEqual([1, 3]);
  });
});

/** The hashes of the workspace's token under the pepper in use and the former one, not moved yet. */
async function hashesAfterRotation(): Promise<readonly [TokenHash, TokenHash]> {
  await rotated();
  const peppers = await pepper().read();
  if (!peppers?.other) throw new Error("no former pepper is kept");
  return [tokenHash(own.token, peppers.current), tokenHash(own.token, peppers.other)];
}

/** The database where something happens just before the first such command. */
function meet(isMet: (command: unknown) => boolean, happens: () => Promise<unknown>): Database {
  let isDone = false;
  const send = async (command: never) => {
    if (!isDone && isMet(command)) {
      isDone = true;
      await happens();
    }
    return database().client.send(command);
  };
  return { ...database(), client: Object.assign(Object.create(database().client), { send }) };
}

const ask = askingIn(() => own);
const doorbellUrl = async () => dataOf<{ readonly url: string }>(await ask("make-doorbell")).url;
const doorbellState = async () => dataOf<{ readonly url_outdated: boolean }>(await ask("read-doorbell")).url_outdated;
const rings = async (url: string) => (await ask("ring", { path: { ring_token: url.split("/").at(-1) ?? "" } })).status;
const formerDoorbells = async () => (await pepperRotation(database(), vault()).findFormer())?.doorbells;

const revoke = (token_id: string) => ask("revoke-token", { path: { token_id } });

async function audited(workspaceId: string) {
  return (await auditPage({ workspaceId, actor: null, action: null }, { limit: 5, offset: 0 })).entries;
}
