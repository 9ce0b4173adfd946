import type { Stage } from "./stage.ts";

/** What outlives the functions, and may die and freeze as they may. */
export type Part = keyof Stage["ways"];

/** Who kills and stops the parts, one at a time. */
export type Parts = ReturnType<typeof createParts>;

interface Strike {
  readonly whom: Part;
  readonly how: "kill" | "stop";
  /** Epoch milliseconds. */
  readonly at: number;
}

export function createParts({ ways }: Pick<Stage, "ways">) {
  const strikes: Strike[] = [];
  let current: Promise<unknown> | null = null;
  const occupy = <T>(work: () => Promise<T>): Promise<T> => {
    const working = work().finally(() => {
      current = null;
    });
    current = working;
    // A caller that waits for all to be up gets its failure.
    working.catch(() => undefined);
    return working;
  };
  return {
    strikes,
    /** False: one of them is down just now. A part that is killed is dead when this returns, and is started again. */
    strike: (whom: Part, how: Strike["how"]): boolean => {
      if (current !== null) return false;
      strikes.push({ whom, how, at: Date.now() });
      void occupy(ways[whom][how]);
      return true;
    },
    /** All are up again. */
    settled: async () => {
      await current;
    },
    /** Work on parts that are all up, while none is struck. */
    alone: async <T>(work: () => Promise<T>): Promise<T> => {
      while (current !== null) await current;
      return occupy(work);
    },
  };
}
