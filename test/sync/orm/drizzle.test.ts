import { test } from "vitest";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest } from "../../support/worlds/worlds.ts";
import { liveThrough, RENAME } from "./scenario.ts";

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
