import { afterAll, beforeAll, expect, test } from "vitest";
import { isWholeGrid } from "../support/run/whole-grid.ts";
import { type CrashWorld, startCrashWorld } from "../support/worlds/crash-world.ts";

/** The short form of `npm run prove:webhooks`. */
let world: CrashWorld;
beforeAll(async () => {
  world = await startCrashWorld();
});
afterAll(() => world.close());

/** Before deliveries are kept, before their wake-up is sent, and before the receiver is called; the long tier has each. */
const IN_GATE = /BatchExecuteStatement|SendMessageBatch|POST/;

test("whichever kind of durable effect a worker dies before, the event arrives and its history is right", async () => {
  const { effects, wrong } = await world.run({ events: 1, failures: 0 });
  expect(wrong).toEqual([]);
  expect(effects.filter((effect) => effect === "POST to the receiver")).toHaveLength(1);
  const isFirst = (effect: string, at: number) => effects.indexOf(effect) === at && IN_GATE.test(effect);
  const tried = [...effects.entries()].filter(([at, effect]) => isWholeGrid || isFirst(effect, at));

  expect(tried.length).toBeGreaterThanOrEqual(3);
  for (const [at, effect] of tried) {
    const ending = await world.run({ events: 1, failures: 0, die: { effect: at + 1, when: "before" } });
    expect([effect, ending.hasDied, ending.wrong]).toEqual([effect, true, []]);
  }
});

test("a worker that dies between the receiver's answer and its report repeats the same event", async () => {
  const { effects } = await world.run({ events: 1, failures: 1 });
  const post = effects.indexOf("POST to the receiver") + 1;

  const ending = await world.run({ events: 1, failures: 1, die: { effect: post, when: "after" } });

  expect(ending).toMatchObject({ hasDied: true, wrong: [] });
});
