import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { monitoring, workspaces } from "../../functions/composition.ts";
import type { Mapping } from "../../lib/model/mapping.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/bridge-cloud.ts";
import { createSyncWorld, type SyncWorld } from "../support/sync-world.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
beforeAll(async () => {
  cloud = await startBridgeCloud();
});
afterAll(() => cloud.close());
beforeEach(async () => {
  world = await createSyncWorld(cloud);
  const [mapping] = await world.map({ object: "Contact", fields: ["LastName"] });
  if (!mapping) throw new Error("the mapping was not made");
  contact = mapping;
});
afterEach(() => world.close());

const count = async (state: string) =>
  (await world.sql("SELECT count(*)::int AS n FROM salesforce._trigger_log WHERE state = $1", [state]))[0]?.["n"];
const records = async () => (await world.soql("SELECT count(Id) n FROM Contact"))[0]?.["n"];

async function abort(): Promise<boolean> {
  const workspace = await (await workspaces().find(world.workspaceId))?.open();
  if (!workspace?.postgres) throw new Error("the workspace has no database");
  await using database = await monitoring().open(workspace.postgres);
  return database.requestAbort(contact.id, new Date());
}

test("an abort ends a running cycle within one batch, and what was not sent waits as before", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname) SELECT 'Crowd' FROM generate_series(1, 1000)");
  let saves = 0;
  world.interfere(async (call) => {
    if (call !== "org.write") return;
    saves += 1;
    if (saves === 2) expect(await abort()).toBe(true);
  });

  await world.cycle(contact);

  world.interfere(null);
  expect(await records()).toBe(400);
  expect([await count("SUCCESS"), await count("NEW"), await count("PENDING")]).toEqual([400, 600, 0]);
  await world.cycle(contact);
  expect([await records(), await count("SUCCESS")]).toEqual([1000, 1000]);
});
