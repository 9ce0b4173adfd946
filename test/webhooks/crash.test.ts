import { afterAll, beforeAll, expect, test } from "vitest";
import { type CrashWorld, startCrashWorld } from "../support/worlds/crash-world.ts";

/** The short form of `npm run prove:webhooks`. */
let world: CrashWorld;
beforeAll(async () => {
  world = await startCrashWorld();
});
afterAll(() => world.close());

test("whichever durable effect of dispatch and delivery a worker dies before, the event arrives and its history is right", async () => {
  const { effects, wrong } = await world.run({ events: 1, failures: 0 });
  expect(wrong).toEqual([]);
  expect(effects.filter((effect) => effect === "POST to the receiver")).toHaveLength(1);

  for (const effect of effects.keys()) {
    const ending = await world.run({ events: 1, failures: 0, die: { effect: effect + 1, when: "before" } });

    expect([effects[effect], ending.hasDied, ending.wrong]).toEqual([effects[effect], true, []]);
  }
});

test("a worker that dies between the receiver's answer and telling of it repeats the same event", async () => {
  const { effects } = await world.run({ events: 1, failures: 1 });
  const post = effects.indexOf("POST to the receiver") + 1;

  const ending = await world.run({ events: 1, failures: 1, die: { effect: post, when: "after" } });

  expect(ending).toMatchObject({ hasDied: true, wrong: [] });
});
