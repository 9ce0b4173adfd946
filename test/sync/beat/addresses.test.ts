import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { engineReports } from "../../../functions/services/composition.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { type BridgeCloud, startBridgeCloud } from "../../support/worlds/bridge-cloud.ts";
import { createSyncWorld, type SyncWorld } from "../../support/worlds/sync-world.ts";
import { mapped } from "../../support/worlds/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
beforeAll(async () => {
  cloud = await startBridgeCloud();
  world = await createSyncWorld(cloud);
  contact = await mapped(world, { object: "Contact", fields: ["LastName"] });
});
afterEach(() => {
  process.env["STAGE"] = "dev";
});
afterAll(async () => {
  await world.close();
  await cloud.close();
});

const reason = async () => (await engineReports().read(world.workspaceId)).mappings[0]?.message;

test("a database whose host leads to an address that is not public is not connected to by a cycle either, which says so", async () => {
  await world.pass(600); // no connection of before is kept
  process.env["STAGE"] = "prod";

  for (let cycle = 1; cycle <= 3; cycle += 1) await world.cycle(contact).catch(() => undefined);

  process.env["STAGE"] = "dev";
  expect(await reason()).toContain("the host 127.0.0.1 points to a loopback address");
  expect(await reason()).toContain("openedRanges");
});

test("once its host leads to a good address again, the engine recovers", async () => {
  await world.cycle(contact);

  expect((await engineReports().read(world.workspaceId)).mappings[0]).toMatchObject({ broken: false });
});
