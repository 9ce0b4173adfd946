import { test } from "vitest";
import { longTest } from "../../support/run/whole-grid.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest } from "../../support/worlds/worlds.ts";
import { liveThrough, RENAME, YEAR } from "./scenario.ts";

let world: SyncWorld;
aWorldForEachTest(
  (made) => {
    world = made.world;
  },
  { isBefore: true },
);

test("tables that Drizzle owns are mapped by its migrations alone, and a renamed column fails no write", async () => {
  await liveThrough(world, "propose", [RENAME]);
});

longTest.each(["apply", "propose"] as const)(
  "a year of migrations by Drizzle fails no write, and both sides are equal (%s)",
  async (schemaChanges) => {
    await liveThrough(world, schemaChanges, YEAR);
  },
);
