import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { handler } from "../../functions/api/list-mappings.ts";
import { database, now, vault, workspaces } from "../../functions/services/composition.ts";
import { isRefused } from "../../lib/access/rate-limit.ts";
import { mintToken } from "../../lib/access/token.ts";
import { workspaceRemoval } from "../../lib/adapters/dynamodb/access/workspace-removal.ts";
import { auditEntry } from "../../lib/model/workspace/audit.ts";
import { ask } from "../support/clients/ask.ts";
import { call, type Request } from "../support/clients/call.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";

let cloud: BridgeCloud;
let own: TestWorkspace;
let other: TestWorkspace;
beforeAll(async () => {
  cloud = await startBridgeCloud();
  own = await createTestWorkspace();
  other = await createTestWorkspace();
});
afterAll(() => cloud.close());

const list = (request: Request = {}) => call(handler, "list-mappings", { path: { workspace_id: own.id }, ...request });

describe("tokens that are accepted (contract 5, 7)", () => {
  test("the workspace's own, but no request with two of them: a proxy may have judged the other one", async () => {
    const both = [`Bearer ${other.token}`, `Bearer ${own.token}`];
    const answer = await list({ token: own.token, multiValueHeaders: { authorization: both } });
    const single = await list({ token: own.token });

    expect([single.status, single.json]).toEqual([200, { success: true, data: [] }]);
    expect(single.headers["X-Request-Id"]).toMatch(/^req_/);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ success: false, error: { code: "VALIDATION_ERROR" } });
    expect(answer.text).toContain("the header authorization was sent more than once");
  });

  test("no caller finds out which workspaces there are: 401 for one that does not exist, as for one that does", async () => {
    for (const request of [{}, { token: mintToken("admin") }, { token: "brg_a123" }]) {
      const [there, nowhere] = [await list(request), await list({ ...request, path: { workspace_id: "ws_none" } })];

      expect([there.status, nowhere.status]).toEqual([401, 401]);
      expect(nowhere.text).toBe(there.text);
    }
  });

  test("no token of a workspace that is being removed, before its tokens are gone: 404, and it is listed no more", async () => {
    const leaving = await createTestWorkspace();
    const path = { workspace_id: leaving.id };
    const ids = async () => (await workspaces().list()).map(({ id }) => id);
    const renaming = () => ask("rename-workspace", { path, token: leaving.token, body: { name: "Alive" } });
    expect([(await list({ token: leaving.token, path })).status, await ids()]).toEqual([
      200,
      expect.arrayContaining([leaving.id]),
    ]);

    const doing = { workspaceId: leaving.id, actor: "system", at: now() };
    const entry = auditEntry(doing, "workspace.deleted", leaving.id, {});
    await workspaceRemoval(database(), vault()).condemn(leaving.id, entry);
    await cloud.clock.advance({ seconds: 4 });

    for (const answer of [await list({ token: leaving.token, path }), await renaming()]) {
      expect([answer.status, answer.json?.error?.code]).toEqual([404, "WORKSPACE_NOT_FOUND"]);
    }
    expect(await workspaces().find(leaving.id)).toBeNull();
    expect(await ids()).not.toContain(leaving.id);
  });
});

describe("the rate limit (contract 8)", () => {
  test("lets 300 requests a minute through, shows what is left, and refuses the next", async () => {
    await cloud.clock.advance({ seconds: 70 - ((cloud.clock.now() / 1000) % 60) });
    const address = "198.51.100.7";

    const first = await list({ token: own.token, address });
    for (let made = 1; made < 300; made += 1) await list({ address }); // those count as well that show no token
    const refused = await list({ token: own.token, address, headers: { "X-Forwarded-For": "203.0.113.1" } });

    expect(first.headers["RateLimit-Policy"]).toBe('"default";q=300;w=60');
    expect(first.headers["RateLimit"]).toBe('"default";r=299;t=50');
    expect(refused.status).toBe(429);
    expect(refused.headers["Retry-After"]).toBe("50");
    expect(refused.json).toMatchObject({ success: false, error: { code: "RATE_LIMITED" } });
    expect((await list({ token: own.token, address: "198.51.100.8" })).status).toBe(200);
    await cloud.clock.advance({ seconds: 50 });
    expect((await list({ token: own.token, address })).status).toBe(200);
  });

  test("comes before everything else, also before the token", async () => {
    const address = "198.51.100.9";
    const atOnce = await Promise.all(Array.from({ length: 300 }, () => list({ address })));
    const left = atOnce.map(({ headers }) => Number(/r=(\d+)/.exec(String(headers["RateLimit"]))?.[1]));
    expect(left.toSorted((one, other) => one - other)).toEqual([...Array(300).keys()]);
    expect(new Set(atOnce.map(({ status }) => status))).toEqual(new Set([401]));
    expect(isRefused(address, new Date(cloud.clock.now()))).toBe(false);

    const refused = await Promise.all([list({ address }), list({ address, token: own.token })]);

    expect(refused.map(({ status }) => status)).toEqual([429, 429]);
    expect(isRefused(address, new Date(cloud.clock.now()))).toBe(true);
    expect((await list({ address, token: own.token })).json).toMatchObject({ error: { code: "RATE_LIMITED" } });
    await cloud.clock.advance({ minutes: 1 });
    expect((await list({ address, token: own.token })).status).toBe(200);
  });

  test("is reported with every refusal, too", async () => {
    const address = "198.51.100.11";
    const unknown = await list({ address });
    const nowhere = await list({ address, token: own.token, path: { workspace_id: "ws_none" } });

    expect([unknown.status, nowhere.status]).toEqual([401, 404]);
    for (const { headers } of [unknown, nowhere]) expect(headers["RateLimit"]).toMatch(/^"default";r=29[89];t=\d+$/);
  });

  test("of nudges has its own name and quota, and does not change the other one", async () => {
    const address = "198.51.100.12";
    const nudged = await ask("nudge", { address, path: { workspace_id: own.id } });
    const listed = await list({ address, token: own.token });

    expect(nudged.headers["RateLimit-Policy"]).toBe('"nudge";q=6000;w=60');
    expect(nudged.headers["RateLimit"]).toMatch(/^"nudge";r=5999;t=\d+$/);
    expect(listed.headers["RateLimit"]).toMatch(/^"default";r=299;t=\d+$/);
  });

  test("does not count scrapes of the metrics", async () => {
    const address = "198.51.100.10";
    for (let made = 0; made < 301; made += 1) {
      expect((await ask("read-metrics", { address })).status).toBe(200);
    }
    expect((await list({ token: own.token, address })).status).toBe(200);
  });
});
