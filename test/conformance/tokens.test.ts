import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { database } from "../../functions/services/composition.ts";
import { mintToken } from "../../lib/access/token.ts";
import { ROUTES, type Route } from "../../lib/http/routes.ts";
import { TABLES, type TableName } from "../../lib/model/resources.ts";
import { SCOPES } from "../../lib/model/workspace/token.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { ISOLATES } from "../support/run/isolation.ts";
import { type RunningBridge, startRunningBridge } from "../support/worlds/running-bridge.ts";
import type { TestWorkspace } from "../support/worlds/workspace.ts";
import { expectRefusal } from "./world.ts";

let bridge: RunningBridge;
let own: TestWorkspace;
let other: TestWorkspace;
const tokens = new Map<string, string>();
beforeAll(async () => {
  bridge = await startRunningBridge();
  [own, other] = [await bridge.createWorkspace("one"), await bridge.createWorkspace("other")];
  for (const scope of SCOPES) tokens.set(scope, await own.tokenWith([scope]));
  tokens.set("expired", await own.tokenWith(["admin"], new Date(Date.now() - 1000)));
  tokens.set("revoked", await revokedToken());
});
afterAll(() => bridge.close());

async function revokedToken(): Promise<string> {
  const made = await bridge.request("POST", `/api/v1/t/${own.id}/tokens`, {
    token: own.token,
    body: { name: "to be revoked", owner: "owner@example.com", scopes: ["admin"] },
  });
  const { id, token } = dataOf<{ id: string; token: string }>(made);
  await bridge.request("DELETE", `/api/v1/t/${own.id}/tokens/${id}`, { token: own.token });
  return token;
}

const guarded = Object.entries<Route>(ROUTES).filter(([, { scope, byInvitation }]) => scope !== null && !byInvitation);

const pathIn = (path: string, workspaceId: string) =>
  path.replace("{workspace_id}", workspaceId).replace(/\{\w+\}/g, "none");

const asking = ({ method, path }: Route, authorization: string | null, workspaceId = own.id) =>
  bridge.request(method, pathIn(path, workspaceId), {
    headers: authorization === null ? {} : { Authorization: authorization },
  });

const bearer = (state: string) => `Bearer ${tokens.get(state)}`;

/** A token with one digit of its checksum changed. */
function misspelt(): string {
  const token = mintToken("admin");
  return token.slice(0, -1) + (token.endsWith("0") ? "1" : "0");
}

/** One frame reads the token of every function: one of each scope shows every state; in isolation each function does. */
const tried = ISOLATES
  ? guarded
  : SCOPES.flatMap((needed) => guarded.filter(([, { scope }]) => scope === needed).slice(0, 1));

describe.each(tried)("%s", (_, route) => {
  test.each([
    ["an empty token", () => "Bearer "],
    ["another scheme", () => `Basic ${Buffer.from("user:password").toString("base64")}`],
    ["a malformed token", () => "Bearer brg_a123"],
    ["a token whose checksum is wrong", () => `Bearer ${misspelt()}`],
    ["a token that was never made", () => `Bearer ${mintToken("admin")}`],
    ["an expired token", () => bearer("expired")],
    ["a revoked token", () => bearer("revoked")],
  ])("refuses %s: 401", async (_state, authorization) => {
    expectRefusal(await asking(route, authorization()), 401, "UNAUTHORIZED");
  });

  test("refuses every token for a workspace that does not exist: 404", async () => {
    expectRefusal(await asking(route, bearer("admin"), "ws_none"), 404, "WORKSPACE_NOT_FOUND");
  });
});

test("a refused caller has changed nothing, with ids that exist and bodies that would be accepted", async () => {
  const workspace = await bridge.createWorkspace("untouched");
  const ask = (method: string, path: string, body?: unknown, token?: string) =>
    bridge.request(method, `/api/v1/t/${workspace.id}${path}`, { ...(token && { token }), ...(body ? { body } : {}) });
  const made = async (path: string, body: unknown) =>
    dataOf<{ id: string }>(await ask("POST", path, body, workspace.token)).id;
  const paused = { fields: { LastName: {}, Email: {} }, bridge: { active: false } };
  await made("/config/import", { version: 1, mappings: [{ object_name: "Contact", config: paused }] });
  const mappings = await ask("GET", "/mappings?include=inactive", undefined, workspace.token);
  const mapping = `/mappings/${dataOf<{ id: string }[]>(mappings)[0]?.id}`;
  const webhook = `/webhooks/${await made("/webhooks", WEBHOOK)}`;
  const token = `/tokens/${await made("/tokens", TOKEN)}`;
  const lesser = [await workspace.tokenWith(["read"]), await workspace.tokenWith(["operate"])];
  await bridge.host.settle();
  const before = await kept();

  const changes: readonly (readonly [method: string, path: string, body?: object])[] = [
    ["POST", "/config/import", { version: 1, mappings: [] }],
    ["POST", "/tokens", TOKEN],
    ["DELETE", token],
    ["PATCH", mapping, { fields: ["LastName"] }],
    ["DELETE", mapping],
    ["POST", "/webhooks", WEBHOOK],
    ["PATCH", webhook, { active: false }],
    ["DELETE", webhook],
    ["PATCH", "", { name: "Renamed" }],
  ];
  for (const [method, path, body] of changes)
    for (const held of [undefined, other.token, ...lesser]) {
      const [status, code] = held === undefined ? ([401, "UNAUTHORIZED"] as const) : ([403, "FORBIDDEN"] as const);
      expectRefusal(await ask(method, path, body, held), status, code);
    }
  await bridge.host.settle();

  expect(await kept()).toEqual(before);
});

const TOKEN = { name: "another", owner: "owner@example.com", scopes: ["admin"] };
const WEBHOOK = { url: "http://127.0.0.1:9/", events: ["sync.broken"] };

/** Everything that is kept, but when tokens were last used, how often addresses asked, and what the sweeper notes. */
async function kept(): Promise<unknown> {
  const tables = (Object.keys(TABLES) as TableName[]).filter((name) => name !== "rateLimits" && name !== "engine");
  const items = tables.map(async (name) => {
    const { Items = [] } = await database().client.send(new ScanCommand({ TableName: database().table(name) }));
    return [name, Items.filter(({ sk }) => sk !== "queue").map(({ last_used_at: _, ...item }) => item)];
  });
  return Object.fromEntries(await Promise.all(items));
}

test("a read of the metrics needs none, and takes any", async () => {
  for (const authorization of [null, "Bearer nonsense", bearer("revoked")]) {
    expect((await asking(ROUTES["read-metrics"], authorization)).status).toBe(200);
  }
});

/** Section 4 of the contract, its rows in order, with the scope that each takes (null: no token) and the answer to one that is let in. */
const CONTRACT = [
  [1, "GET", "/api/v1/t/{workspace_id}/mappings", "read", 200],
  [2, "GET", "/api/v1/t/{workspace_id}/health", "read", 200],
  [3, "GET", "/api/v1/t/{workspace_id}/monitoring/activity", "read", 200],
  [4, "GET", "/api/v1/t/{workspace_id}/monitoring/errors", "read", 200],
  [5, "POST", "/api/v1/t/{workspace_id}/mappings/{mapping_id}/poll-now", "operate", 404],
  [6, "POST", "/api/v1/t/{workspace_id}/mappings/{mapping_id}/abort", "operate", 404],
  [7, "GET", "/api/v1/t/{workspace_id}/config/export", "read", 200],
  [8, "POST", "/api/v1/t/{workspace_id}/config/import", "admin", 415],
  [9, "POST", "/api/v1/t/{workspace_id}/config/baseline", "operate", 200],
  [10, "GET", "/api/v1/t/{workspace_id}/config/drift", "read", 200],
  [11, "GET", "/api/v1/t/{workspace_id}/audit-log", "read", 200],
  [12, "GET", "/api/v1/t/{workspace_id}/audit-log?format=csv", "read", 200],
  [13, "GET", "/api/v1/t/{workspace_id}/webhooks/{webhook_id}/deliveries", "read", 404],
  [14, "POST", "/api/v1/t/{workspace_id}/webhooks/{webhook_id}/deliveries/{delivery_id}/retry", "operate", 404],
  [15, "GET", "/api/metrics", null, 200],
] as const;

/** Endpoints beyond the contract that take less than an admin token. All others that exist take `admin`. */
const BELOW_ADMIN = [
  ["GET", "/api/v1/t/{workspace_id}", "read"],
  ["GET", "/api/v1/t/{workspace_id}/changes", "read"],
  ["GET", "/api/v1/t/{workspace_id}/fleet", "read"],
  ["GET", "/api/v1/t/{workspace_id}/doorbell", "read"],
  ["POST", "/api/v1/t/{workspace_id}/nudge", "operate"],
  ["PUT", "/api/v1/t/{workspace_id}/pause", "operate"],
  ["GET", "/api/v1/t/{workspace_id}/restore", "read"],
  ["GET", "/api/v1/t/{workspace_id}/connections/postgres/proposals", "read"],
  ["GET", "/api/v1/t/{workspace_id}/mappings/{mapping_id}", "read"],
  ["GET", "/api/v1/t/{workspace_id}/mappings/{mapping_id}/cycles/{mark}", "read"],
  ["GET", "/api/v1/t/{workspace_id}/mappings/{mapping_id}/dry-run", "operate"],
  ["GET", "/api/v1/t/{workspace_id}/mappings/{mapping_id}/held-deletes", "read"],
  ["GET", "/api/v1/t/{workspace_id}/mappings/{mapping_id}/rows", "read"],
  ["GET", "/api/v1/t/{workspace_id}/monitoring/activity/{change_id}", "operate"],
  ["GET", "/api/v1/t/{workspace_id}/rows/{table}/{key}/story", "operate"],
  ["PATCH", "/api/v1/t/{workspace_id}/rows/{table}/{key}", "operate"],
  ["POST", "/api/v1/t/{workspace_id}/rows/{table}/{key}/restore", "operate"],
  ["POST", "/api/v1/t/{workspace_id}/mappings/{mapping_id}/retry-inbound", "operate"],
  ["POST", "/api/v1/t/{workspace_id}/mappings/{mapping_id}/compare", "operate"],
  ["POST", "/api/v1/t/{workspace_id}/monitoring/conflicts/{conflict_id}/use-other-value", "operate"],
  ["POST", "/api/v1/t/{workspace_id}/monitoring/errors/dismiss", "operate"],
  ["POST", "/api/v1/t/{workspace_id}/monitoring/errors/retry", "operate"],
  ["POST", "/api/v1/t/{workspace_id}/monitoring/errors/{row_id}/retry", "operate"],
  ["GET", "/api/v1/t/{workspace_id}/monitoring/budget", "read"],
  ["GET", "/api/v1/t/{workspace_id}/monitoring/conflicts", "read"],
  ["GET", "/api/v1/t/{workspace_id}/monitoring/failures", "read"],
  ["GET", "/api/v1/t/{workspace_id}/monitoring/inbound-errors", "read"],
  ["GET", "/api/v1/t/{workspace_id}/monitoring/mappings", "read"],
  ["GET", "/api/v1/t/{workspace_id}/monitoring/throughput", "read"],
  ["GET", "/api/v1/t/{workspace_id}/tokens/current", "read"],
  ["POST", "/api/v1/t/{workspace_id}/tokens/accept", "read"],
  ["GET", "/api/v1/t/{workspace_id}/webhooks", "read"],
  ["GET", "/api/v1/t/{workspace_id}/webhooks/{webhook_id}", "read"],
  ["POST", "/api/v1/t/{workspace_id}/webhooks/{webhook_id}/replay", "operate"],
  ["POST", "/ring/{workspace_id}/{ring_token}", null],
] as const;

describe.each(CONTRACT)("row %i of the contract, %s %s", (_, method, path, scope, status) => {
  const ask = (authorization: string | null) =>
    bridge.request(method, pathIn(path, own.id), {
      headers: authorization === null ? {} : { Authorization: authorization },
    });

  test(scope === null ? "answers without a token" : "refuses a request without a token: 401", async () => {
    const answer = await ask(null);

    if (scope === null) expect(answer.status).toBe(status);
    else expectRefusal(answer, 401, "UNAUTHORIZED");
  });

  const allows = { read: ["read"], operate: ["read", "operate"], admin: ["read", "operate", "admin"] } as const;

  test.each(["read", "operate", "admin"] as const)(
    `takes scope ${scope ?? "of any kind"}: asked with %s`,
    async (held) => {
      const isLetIn = scope === null || allows[held].some((allowed) => allowed === scope);

      const answer = await ask(bearer(held));

      if (isLetIn) expect(answer.status, answer.text).toBe(status);
      else expect(expectRefusal(answer, 403, "FORBIDDEN")?.message).toContain(scope);
    },
  );
});

test("what exists is what is written out here: the contract's rows, and what else takes less than an admin token", () => {
  const routes = Object.values<Route>(ROUTES).map(({ method, path, scope }) => `${method} ${path} ${scope}`);
  const isOfRow11 = (row: number) => row === 12; // the same endpoint, with its format asked for
  const rows = CONTRACT.filter(([row]) => !isOfRow11(row));
  const contract = rows.map(([, method, path, scope]) => `${method} ${path} ${scope}`);
  const others = BELOW_ADMIN.map(([method, path, scope]) => `${method} ${path} ${scope}`);

  expect(new Set(routes).size).toBe(routes.length);
  expect(routes).toEqual(expect.arrayContaining(contract));
  expect(routes.filter((row) => !contract.includes(row) && !row.endsWith(" admin")).sort()).toEqual(others.sort());
});
