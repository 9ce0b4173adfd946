import { test } from "vitest";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest } from "../../support/worlds/worlds.ts";
import { liveThrough, YEAR } from "./scenario.ts";

let world: SyncWorld;
aWorldForEachTest(
  (made) => {
    world = made.world;
  },
  { isBefore: true },
);

test("a year of migrations by Drizzle fails no write, and both sides are equal (apply)", async () => {
  await liveThrough(world, "apply", YEAR);
});
