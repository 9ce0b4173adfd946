import { afterAll, beforeAll, expect, test } from "vitest";
import { isWholeGrid } from "../support/run/whole-grid.ts";
import { type CrashWorld, startCrashWorld } from "../support/worlds/crash-world.ts";
import { effectsOfDelivery, expectRightEndAfterDeath } from "./crash-stories.ts";

/** The short form of `npm run prove:webhooks`. */
let world: CrashWorld;
beforeAll(async () => {
  world = await startCrashWorld();
});
afterAll(() => world.close());

/** Before deliveries are kept, before their wake-up is sent, and before the receiver is called; the long tier has each. */
const IN_GATE = /BatchExecuteStatement|SendMessageBatch|POST/;

test("whichever kind of durable effect a worker dies before, the event arrives and its history is right", async () => {
  const effects = await effectsOfDelivery(world);
  const kinds = [...effects.entries()].filter(([at, effect]) => effects.indexOf(effect) === at);
  const tried = kinds.filter(([, effect]) => isWholeGrid || IN_GATE.test(effect));

  expect(tried.length).toBeGreaterThanOrEqual(3);
  for (const [at, effect] of tried) await expectRightEndAfterDeath(world, at, effect);
});

test("a worker that dies between the receiver's answer and its report repeats the same event", async () => {
  const { effects } = await world.run({ events: 1, failures: 1 });
  const post = effects.indexOf("POST to the receiver") + 1;

  const ending = await world.run({ events: 1, failures: 1, die: { effect: post, when: "after" } });

  expect(ending).toMatchObject({ hasDied: true, wrong: [] });
});
