import { test } from "vitest";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest } from "../../support/worlds/worlds.ts";
import { ADD_COLUMN, liveThrough, RENAME } from "./scenario.ts";

let world: SyncWorld;
aWorldForEachTest((made) => {
  world = made.world;
});

test("tables that Drizzle owns are mapped by its migrations alone, and a renamed column fails no write", async () => {
  await liveThrough(world, "propose", [ADD_COLUMN, RENAME]);
});
