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

interface Token {
  readonly id: string;
  readonly token: string;
  readonly owner: string;
}

const invite = async (scopes: readonly string[], more: object = {}): Promise<Token> => {
  const body = { name: "Ada", owner: "ada@example.com", scopes, invitation: true, ...more };
  return dataOf(await ask("create-token", { body }));
};

const accept = (token: string) => ask("accept-invitation", { token: token });
const maps = async (token: string) => (await ask("list-mappings", { token: token })).status;
const list = async () => dataOf<readonly Token[]>(await ask("list-tokens"));
const listed = async (wanted: string) => (await list()).find(({ id }) => id === wanted);

test("an invitation opens nothing but its own acceptance, which gives its owner a token, once", async () => {
  const invited = await invite(["operate"]);
  expect(await listed(invited.id)).toMatchObject({ state: "invited", scopes: ["operate"], owner: "ada@example.com" });
  for (const route of ["list-mappings", "read-own-token"] as const) {
    const refused = await ask(route, { token: invited.token });
    expect(refused.status).toBe(401);
    expect(refused.json?.error?.message).toContain("bridge accept");
  }

  const accepted = dataOf<Token>(await accept(invited.token));

  expect(accepted).toMatchObject({ owner: "ada@example.com", scopes: ["operate"], state: "valid", valid_until: null });
  expect(await maps(accepted.token)).toBe(200);
  expect((await ask("list-tokens", { token: accepted.token })).status).toBe(403);
  expect(await listed(invited.id)).toMatchObject({ state: "revoked" });
  expect((await accept(invited.token)).status).toBe(409);
  await cloud.clock.advance({ seconds: 4 });
  expect((await accept(invited.token)).status).toBe(401);
  const { entries } = await auditedIn(workspace.id, null, 3);
  expect(entries.map(({ actor, action }) => [actor, action])).toEqual([
    ["ada@example.com", "token.created"],
    ["ada@example.com", "invitation.accepted"],
    ["owner@example.com", "invitation.created"],
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
  const { id } = dataOf<Token>(await ask("read-own-token"));
  const revoke = (wanted: string) => ask("revoke-token", { path: { workspace_id: workspace.id, token_id: wanted } });

  expect((await revoke(id)).status).toBe(409);
  expect((await revoke(invited.id)).status).toBe(200);

  expect([401, 409]).toContain((await accept(invited.token)).status);
});

test("a token is no invitation, and another workspace's invitation is none here", async () => {
  const other = await createTestWorkspace();
  const body = { name: "Eve", owner: "eve@example.com", scopes: ["read"], invitation: true };
  const path = { workspace_id: other.id };
  const theirs = dataOf<Token>(await ask("create-token", { path, token: other.token, body }));

  for (const token of [workspace.token, theirs.token]) expect((await accept(token)).status).toBe(403);

  expect((await ask("accept-invitation", { path, token: theirs.token })).status).toBe(200);
});
