import { expect } from "vitest";
import type { CrashWorld } from "../support/worlds/crash-world.ts";

/** One event that is delivered at once: the durable effects of its dispatch and its delivery, in order. */
export async function effectsOfDelivery(world: CrashWorld): Promise<readonly string[]> {
  const { effects, wrong } = await world.run({ events: 1, failures: 0 });
  expect(wrong).toEqual([]);
  expect(effects.filter((effect) => effect === "POST to the receiver")).toHaveLength(1);
  return effects;
}

/** The same with a worker that dies before the effect at this place. */
export async function expectRightEndAfterDeath(world: CrashWorld, at: number, effect: string): Promise<void> {
  const ending = await world.run({ events: 1, failures: 0, die: { effect: at + 1, when: "before" } });

  expect([effect, ending.hasDied, ending.wrong]).toEqual([effect, true, []]);
}
