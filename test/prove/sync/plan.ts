import { createDice, type Dice } from "../../support/dice.ts";
import { ENGINE, type Run } from "./run.ts";
import type { Incident } from "./trouble.ts";

/** At these, a stop is worth most: between a check and what follows it. */
const WORTH_A_STOP = /salesforce: (create|update|upsert|delete)|commit of (results|a page|a claim)|mark as sent/;

/**
 * Every point that peace has shown more than once (what is made once in a workspace's life has no second chance): in the
 * long form killed and stopped, before and after; in the short form killed, before or after as the seed says.
 */
export function planOf({ trouble, asked }: Run): Incident[] {
  const dice = createDice(asked.seed + 2);
  const points = [...trouble.passed].filter(([, times]) => times > 1).map(([point]) => point);
  const plan = points
    .filter((point) => ENGINE.some((worker) => point.startsWith(`${worker} |`)))
    .sort()
    .flatMap((point): Incident[] => {
      const both = [{ point, when: "before" } as const, { point, when: "after" } as const];
      if (asked.isLong)
        return both.flatMap((one) => [
          { ...one, how: "kill" },
          { ...one, how: "stop" },
        ]);
      const one = both[dice.below(2)] ?? both[0];
      const held = point.includes("salesforce:") ? both[0] : (both[dice.below(2)] ?? both[0]);
      return [
        { ...one, how: "kill" },
        ...(WORTH_A_STOP.test(point) ? [{ ...held, how: "stop" } as const] : []),
      ] as Incident[];
    });
  return shuffled(plan, dice);
}

function shuffled<Item>(items: readonly Item[], dice: Dice): Item[] {
  return items
    .map((item) => ({ item, at: dice.roll() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}
