import { afterAll, beforeAll, test } from "vitest";
import { type CrashWorld, startCrashWorld } from "../support/worlds/crash-world.ts";
import { effectsOfDelivery, expectRightEndAfterDeath } from "./crash-stories.ts";

let world: CrashWorld;
beforeAll(async () => {
  world = await startCrashWorld();
});
afterAll(() => world.close());

test("whichever durable effect of dispatch and delivery a worker dies before, the event arrives and its history is right", async () => {
  for (const [at, effect] of (await effectsOfDelivery(world)).entries()) {
    await expectRightEndAfterDeath(world, at, effect);
  }
});
