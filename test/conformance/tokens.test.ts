import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mintToken } from "../../lib/access/token.ts";
import { ROUTES, type Route } from "../../lib/http/routes.ts";
import { SCOPES, type Scope } from "../../lib/model/token.ts";
import { dataOf } from "../support/data-of.ts";
import { type RunningBridge, startRunningBridge } from "../support/running-bridge.ts";
import type { TestWorkspace } from "../support/workspace.ts";
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

const guarded = Object.entries<Route>(ROUTES).filter(([, { scope }]) => scope !== null);

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

describe.each(guarded)("%s", (_, route) => {
  test.each([
    ["no token", () => null],
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

  test("refuses a token of another workspace: 403", async () => {
    expectRefusal(await asking(route, `Bearer ${other.token}`), 403, "FORBIDDEN");
  });

  test("refuses every token for a workspace that does not exist: 404", async () => {
    expectRefusal(await asking(route, bearer("admin"), "ws_none"), 404, "WORKSPACE_NOT_FOUND");
  });

  const needed = route.scope ?? "read";
  const isEnough = (scope: Scope) => SCOPES.indexOf(scope) >= SCOPES.indexOf(needed);

  test.each(SCOPES.filter((scope) => !isEnough(scope)))("refuses scope %s: 403", async (scope) => {
    const error = expectRefusal(await asking(route, bearer(scope)), 403, "FORBIDDEN");
    expect(error?.message).toContain(needed);
  });

  test.each(SCOPES.filter(isEnough))("lets scope %s in", async (scope) => {
    const { status, json } = await asking(route, bearer(scope));

    expect([200, 201, 202, 204, 400, 404, 409, 415]).toContain(status);
    expect(json?.error?.code).not.toBe("WORKSPACE_NOT_FOUND");
  });
});

test("a read of the metrics needs none, and takes any", async () => {
  for (const authorization of [null, "Bearer nonsense", bearer("revoked")]) {
    expect((await asking(ROUTES["read-metrics"], authorization)).status).toBe(200);
  }
});

test("the contract's fifteen endpoints are all there", () => {
  expect(Object.keys(ROUTES)).toEqual(expect.arrayContaining(["list-mappings", "read-health", "retry-delivery"]));
  expect(guarded.length).toBeGreaterThanOrEqual(13);
});
