import { afterAll, beforeAll, expect, test } from "vitest";
import { askingIn } from "../support/clients/ask.ts";
import { auditedIn } from "../support/clients/audit-page.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { createTestWorkspace } from "../support/worlds/workspace.ts";

let cloud: BridgeCloud;
beforeAll(async () => {
  cloud = await startBridgeCloud();
});
afterAll(() => cloud.close());

async function openWorkspace() {
  const workspace = await createTestWorkspace();
  const { id } = workspace;
  const ask = askingIn(() => workspace);
  return {
    id,
    read: () => ask("read-workspace"),
    rename: (name: unknown) => ask("rename-workspace", { body: { name } }),
    audited: async () => {
      const { entries } = await auditedIn(id, "workspace.renamed", 10);
      return entries.map(({ actor, detail }) => ({ actor, detail }));
    },
  };
}

test("a workspace shows its name and whether both sides are connected, and takes another name", async () => {
  const workspace = await openWorkspace();
  expect((await workspace.read()).json?.data).toMatchObject({ id: workspace.id, name: "Test", connected: false });

  const renamed = await workspace.rename("  Acme Europe ");
  await workspace.rename("Acme Europe");

  expect(renamed.json?.data).toMatchObject({ id: workspace.id, name: "Acme Europe" });
  expect((await workspace.read()).json?.data).toMatchObject({ name: "Acme Europe" });
  expect(await workspace.audited()).toEqual([
    { actor: "owner@example.com", detail: { from: "Test", to: "Acme Europe" } },
  ]);
});

test.each([" ", "x".repeat(101), "a\nb", 7])("%j is refused with its place", async (name) => {
  const workspace = await openWorkspace();

  const refused = await workspace.rename(name);

  expect(refused.status).toBe(400);
  expect(refused.json?.error?.details?.map(({ path }) => path)).toEqual(["body.name"]);
  expect(await workspace.audited()).toEqual([]);
});
