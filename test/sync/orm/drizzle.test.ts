import { test } from "vitest";
import { longTest } from "../../support/run/whole-grid.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest } from "../../support/worlds/worlds.ts";
import { liveThrough } from "./scenario.ts";

let world: SyncWorld;
aWorldForEachTest(
  (made) => {
    world = made.world;
  },
  { isBefore: true },
);

test("tables that Drizzle owns are mapped by its migrations alone, and its migrations fail no write", async () => {
  await liveThrough(world, "propose");
});

longTest("migrations by Drizzle of tables that Bridge extends fail no write either", async () => {
  await liveThrough(world, "apply");
});
