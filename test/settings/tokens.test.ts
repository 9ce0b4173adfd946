import { afterAll, beforeAll, expect, test } from "vitest";
import { askingIn } from "../support/clients/ask.ts";
import { auditPage } from "../support/clients/audit-page.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";

let cloud: BridgeCloud;
let workspace: TestWorkspace;
beforeAll(async () => {
  cloud = await startBridgeCloud();
  workspace = await createTestWorkspace();
});
afterAll(() => cloud.close());

const ask = askingIn(() => workspace);

interface Token {
  readonly id: string;
  readonly token: string;
}

const make = async (body: object): Promise<Token> => dataOf(await ask("create-token", { body }));

const revoke = (id: string, query: Record<string, string> = {}) =>
  ask("revoke-token", { path: { workspace_id: workspace.id, token_id: id }, query });

test("a new token opens what its scope says, is shown once, and never again", async () => {
  const made = await make({ name: "grafana", owner: "Ada@Example.com", scopes: ["read"], valid_days: 30 });

  expect(made).toMatchObject({
    name: "grafana",
    owner: "ada@example.com",
    scopes: ["read"],
    state: "valid",
    valid_until: "2026-03-31T12:00:00.000Z",
  });
  expect(made.token).toMatch(/^brg_r/);
  const own = await ask("read-own-token", { token: made.token });
  expect(own.json?.data).toMatchObject({ id: made.id, owner: "ada@example.com" });
  const refused = await ask("list-tokens", { token: made.token });
  expect(refused.json).toMatchObject({ error: { code: "FORBIDDEN" } });

  const listed = await ask("list-tokens");
  expect(listed.json?.data).toHaveLength(2);
  expect(listed.text).not.toContain(made.token);
});

test("a revoked token opens nothing any more, within seconds", async () => {
  const made = await make({ name: "laptop", owner: "ada@example.com", scopes: ["operate"] });
  const asks = () => ask("list-mappings", { token: made.token });
  expect((await asks()).status).toBe(200);

  const revoked = await revoke(made.id);

  expect(revoked.json?.data).toMatchObject({ id: made.id, state: "revoked", revoked_at: "2026-03-01T12:00:00.000Z" });
  await cloud.clock.advance({ seconds: 4 });
  expect((await asks()).status).toBe(401);
  expect((await revoke(made.id)).json?.data).toMatchObject({ state: "revoked" });
});

test("the last token that administers a workspace cannot be revoked", async () => {
  const { id } = dataOf<Token>(await ask("read-own-token"));

  const refused = await revoke(id);

  expect(refused.status).toBe(409);
  expect(refused.json?.error?.message).toContain("make another one first");
  expect((await ask("list-tokens")).status).toBe(200);
});

test("making and revoking are in the audit log with the name of who did it, and without the token", async () => {
  const { entries } = await auditPage(
    { workspaceId: workspace.id, actor: "owner@example.com", action: "token.created" },
    { limit: 1, offset: 0 },
  );

  expect(entries[0]).toMatchObject({ actor: "owner@example.com", detail: { name: "laptop", scopes: ["operate"] } });
  expect(JSON.stringify(entries)).not.toContain("brg_");
});

test.each([
  ["without a name", { name: undefined }, "body.name"],
  ["for no address", { owner: "ada" }, "body.owner"],
  ["with a scope that there is not", { scopes: ["root"] }, "body.scopes[0]"],
  ["with no scope", { scopes: [] }, "body.scopes"],
  ["valid for no day", { valid_days: 0 }, "body.valid_days"],
  ["with a misspelt setting", { days: 3 }, "body"],
])("a token %s is refused with the place of the mistake", async (_, wrong, path) => {
  const body = { name: "x", owner: "ada@example.com", scopes: ["read"], ...wrong };
  const { json } = await ask("create-token", { body });

  expect(json?.error).toMatchObject({ code: "VALIDATION_ERROR", details: [{ path }] });
});

test("a revoked token is listed for thirty days, and gone then", async () => {
  const { id } = await make({ name: "weekly", owner: "ada@example.com", scopes: ["read"] });
  await revoke(id);
  const listed = async () => {
    await cloud.dynamodb.sweepExpired();
    const tokens = dataOf<readonly Token[]>(await ask("list-tokens"));
    return tokens.some((token) => token.id === id);
  };
  await cloud.clock.advance({ hours: 29 * 24 });
  const within = await listed();
  await cloud.clock.advance({ hours: 2 * 24 });

  expect([within, await listed()]).toEqual([true, false]);
});

test("a token that is rotated opens the API beside its successor for the hours that were given, and no longer", async () => {
  const made = await make({ name: "worker", owner: "ada@example.com", scopes: ["operate"], valid_days: 30 });
  const asks = async () => (await ask("list-mappings", { token: made.token })).status;

  const ending = await revoke(made.id, { in_hours: "24" });
  const longer = await revoke(made.id, { in_hours: "48" });

  const until = new Date(cloud.clock.now() + 24 * 3_600_000).toISOString();
  expect(ending.json?.data).toMatchObject({ state: "valid", valid_until: until, revoked_at: null });
  expect(longer.json?.data).toMatchObject({ state: "valid", valid_until: until, revoked_at: null });
  await cloud.clock.advance({ hours: 23, minutes: 59 });
  expect(await asks()).toBe(200);
  await cloud.clock.advance({ minutes: 1 });
  expect(await asks()).toBe(401);
  const { entries } = await auditPage(
    { workspaceId: workspace.id, actor: "owner@example.com", action: "token.revoked" },
    { limit: 1, offset: 0 },
  );
  expect(entries[0]).toMatchObject({ resourceId: made.id, detail: { name: "worker", valid_until: until } });
});
