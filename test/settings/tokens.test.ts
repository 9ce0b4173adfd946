import type { CreateTokenData, ListTokensData } from "bridge/api";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askingIn } from "../support/clients/ask.ts";
import { auditedIn } from "../support/clients/audit-page.ts";
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

const make = async (body: object) => dataOf<CreateTokenData>(await ask("create-token", { body }));

const revoke = (id: string, query: Record<string, string> = {}) =>
  ask("revoke-token", { path: { workspace_id: workspace.id, token_id: id }, query });

const invite = (scopes: readonly string[], more: object = {}) =>
  make({ name: "Ada", owner: "ada@example.com", scopes, invitation: true, ...more });

const accept = (token: string) => ask("accept-invitation", { token });
const maps = async (token: string) => (await ask("list-mappings", { token })).status;
const list = async () => dataOf<ListTokensData>(await ask("list-tokens"));
const listed = async (wanted: string) => (await list()).find(({ id }) => id === wanted);

test("a new token opens what its scope says, is shown once, and never again", async () => {
  const made = await make({ name: "grafana", owner: "Ada@Example.com", scopes: ["read", "read"], valid_days: 30 });

  const whole = { name: "grafana", owner: "ada@example.com", scopes: ["read"], state: "valid" };
  expect(made).toMatchObject({ ...whole, valid_until: "2026-03-31T12:00:00.000Z" });
  expect(made.token).toMatch(/^brg_r/);
  const own = await ask("read-own-token", { token: made.token });
  expect(own.json?.data).toMatchObject({ id: made.id, owner: "ada@example.com" });
  const refused = await ask("list-tokens", { token: made.token });
  expect(refused.json).toMatchObject({ error: { code: "FORBIDDEN" } });

  const listed = await ask("list-tokens");
  expect(listed.json?.data).toHaveLength(2);
  expect(listed.text).not.toContain(made.token);
});

test("a revoked token opens nothing any more, within seconds, and the audit log has its name and not the token", async () => {
  const made = await make({ name: "laptop", owner: "ada@example.com", scopes: ["operate"] });
  const asks = () => ask("list-mappings", { token: made.token });
  expect((await asks()).status).toBe(200);

  const revoked = await revoke(made.id);

  expect(revoked.json?.data).toMatchObject({ id: made.id, state: "revoked", revoked_at: "2026-03-01T12:00:00.000Z" });
  await cloud.clock.advance({ seconds: 4 });
  expect((await asks()).status).toBe(401);
  expect((await revoke(made.id)).json?.data).toMatchObject({ state: "revoked" });
  const { entries } = await auditedIn(workspace.id, "token.created", 1);
  expect(entries[0]).toMatchObject({ actor: "owner@example.com", detail: { name: "laptop", scopes: ["operate"] } });
  expect(JSON.stringify(entries)).not.toContain("brg_");
});

test("the last token that administers a workspace cannot be revoked", async () => {
  const { id } = dataOf<CreateTokenData>(await ask("read-own-token"));
  await make({ name: "ended", owner: "ada@example.com", scopes: ["admin"], valid_days: 1 });
  await cloud.clock.advance({ hours: 25 });

  const refused = await revoke(id);

  expect(refused.status).toBe(409);
  expect(refused.json?.error?.message).toContain("make another one first");
  expect((await ask("list-tokens")).status).toBe(200);

  const other = await make({ name: "other", owner: "ada@example.com", scopes: ["admin"] });
  await revoke(other.id, { in_hours: "24" });
  expect((await revoke(id)).status, "the other one ends before it").toBe(409);
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
  const { id } = await make({ name: "weekly", owner: "ada@example.com", scopes: ["read"], valid_days: 7 });
  await revoke(id);
  const ended = await make({ name: "daily", owner: "ada@example.com", scopes: ["read"], valid_days: 1 });
  const isListed = async (one = id) => {
    await cloud.dynamodb.sweepExpired();
    return (await listed(one)) !== undefined;
  };
  await cloud.clock.advance({ hours: 29 * 24 });
  const within = await isListed();
  expect(await listed(id)).toMatchObject({ state: "revoked" });
  await cloud.clock.advance({ hours: 2 * 24 });

  expect([within, await isListed()]).toEqual([true, false]);
  await cloud.clock.advance({ hours: 1 });
  expect(await isListed(ended.id), "nor is one that has expired").toBe(false);
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
  const [entry] = (await auditedIn(workspace.id, "token.revoked", 1)).entries;
  const detail = { name: "worker", valid_until: until };
  expect(entry).toMatchObject({ actor: "owner@example.com", resourceId: made.id, detail });
});

test("an invitation opens nothing but its own acceptance, which gives its owner a token, once", async () => {
  const invited = await invite(["operate"]);
  expect(await listed(invited.id)).toMatchObject({ state: "invited", scopes: ["operate"], owner: "ada@example.com" });
  for (const route of ["list-mappings", "read-own-token"] as const) {
    const refused = await ask(route, { token: invited.token });
    expect(refused.status).toBe(401);
    expect(refused.json?.error?.message).toContain("bridge accept");
  }

  const accepted = dataOf<CreateTokenData>(await accept(invited.token));

  expect(accepted).toMatchObject({ owner: "ada@example.com", scopes: ["operate"], state: "valid", valid_until: null });
  expect(await maps(accepted.token)).toBe(200);
  expect((await ask("list-tokens", { token: accepted.token })).status).toBe(403);
  expect(await listed(invited.id)).toMatchObject({ state: "revoked" });
  expect((await accept(invited.token)).status).toBe(409);
  await cloud.clock.advance({ seconds: 4 });
  expect((await accept(invited.token)).status).toBe(401);
  const { entries } = await auditedIn(workspace.id, null, 3);
  expect(entries.map(({ actor, action }) => `${action} by ${actor}`)).toEqual([
    ...["token.created by ada@example.com", "invitation.accepted by ada@example.com"],
    "invitation.created by owner@example.com",
  ]);
});

test("of two who accept it in the same moment one gets a token", async () => {
  const invited = await invite(["read"]);
  const before = await list();

  const answers = await Promise.all([accept(invited.token), accept(invited.token)]);

  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect((await list()).length - before.length).toBe(1);
});

test.each([
  ["after its seven days", {}, 7 * 86_400 + 1],
  ["after its own days", { valid_days: 1 }, 86_401],
])("it ends %s", async (_, more, seconds) => {
  const invited = await invite(["read"], more);
  await cloud.clock.advance({ seconds: seconds - 2 });
  const justInTime = await invite(["read"], more);
  await cloud.clock.advance({ seconds: 2 });

  expect((await accept(invited.token)).status).toBe(401);
  expect((await accept(justInTime.token)).status).toBe(200);
});

test("withdrawn, it gives no token, and one that administers is no administrator yet", async () => {
  const invited = await invite(["admin"]);
  const { id } = dataOf<CreateTokenData>(await ask("read-own-token"));
  expect((await revoke(id)).status).toBe(409);
  expect((await revoke(invited.id)).status).toBe(200);

  expect([401, 409]).toContain((await accept(invited.token)).status);
});

test("a token is no invitation, and another workspace's invitation is none here", async () => {
  const other = await createTestWorkspace();
  const body = { name: "Eve", owner: "eve@example.com", scopes: ["read"], invitation: true };
  const path = { workspace_id: other.id };
  const theirs = dataOf<CreateTokenData>(await ask("create-token", { path, token: other.token, body }));

  for (const token of [workspace.token, theirs.token]) expect((await accept(token)).status).toBe(403);

  expect((await ask("accept-invitation", { path, token: theirs.token })).status).toBe(200);
});

test("a workspace shows its name and whether both sides are connected, and takes another name", async () => {
  const read = async () => (await ask("read-workspace")).json?.data;
  const rename = (name: unknown) => ask("rename-workspace", { body: { name } });
  const before = await read();

  const renamed = await rename("  Acme Europe ");
  await rename("Acme Europe");
  const refused = await Promise.all([" ", "x".repeat(101), "a\nb", 7].map(rename));

  expect(before).toMatchObject({ id: workspace.id, name: "Test", connected: false });
  expect(renamed.json?.data).toMatchObject({ id: workspace.id, name: "Acme Europe" });
  expect(await read()).toMatchObject({ name: "Acme Europe" });
  for (const { status, json } of refused) expect([status, json?.error?.details?.[0]?.path]).toEqual([400, "body.name"]);
  const { entries } = await auditedIn(workspace.id, "workspace.renamed", 10);
  const detail = { from: "Test", to: "Acme Europe" };
  expect(entries).toMatchObject([{ actor: "owner@example.com", detail }]);
  await ask("switch-pause", { body: { paused: true } });
  await cloud.clock.advance({ seconds: 4 });
  expect((await rename("Acme")).json?.data).toMatchObject({ pause: { scope: "workspace" } });
});
