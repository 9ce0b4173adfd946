import type { Stage } from "./stage.ts";

/** What outlives the functions, and may die and freeze as they may. */
export type Part = "host" | "PostgreSQL" | "Salesforce";

/** Who kills and stops the parts, one at a time. */
export interface Parts {
  /** How often which was struck. */
  readonly done: Readonly<Record<string, { kills: number; stops: number }>>;
  /** When which was struck; epoch milliseconds. */
  readonly strikes: readonly { readonly whom: Part; readonly at: number }[];
  /** False: one of them is down just now. A part that is killed is dead when this returns, and is started again. */
  strike(part: Part, how: "kill" | "stop"): boolean;
  /** All are up again. */
  settled(): Promise<void>;
  /** Work on parts that are all up, while none is struck. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

/** As long as a read may take, and a little more. */
const STOPPED_MILLISECONDS = 17_000;

export function createParts(stage: Stage): Parts {
  const done: Record<string, { kills: number; stops: number }> = {};
  const strikes: Parts["strikes"][number][] = [];
  const ways: Readonly<Record<Part, Readonly<Record<"kill" | "stop", () => Promise<void>>>>> = {
    host: { kill: stage.killHost, stop: () => stage.stopHost(STOPPED_MILLISECONDS) },
    PostgreSQL: { kill: stage.killPostgres, stop: () => stage.stopPostgres(STOPPED_MILLISECONDS) },
    Salesforce: { kill: stage.killOrg, stop: () => stage.stopOrg(STOPPED_MILLISECONDS) },
  };
  let current: Promise<void> | null = null;
  return {
    done,
    strikes,
    strike: (part, how) => {
      if (current !== null) return false;
      done[part] ??= { kills: 0, stops: 0 };
      done[part][how === "kill" ? "kills" : "stops"] += 1;
      strikes.push({ whom: part, at: Date.now() });
      current = ways[part][how]().finally(() => {
        current = null;
      });
      // A caller that waits for all to be up gets its failure.
      current.catch(() => undefined);
      return true;
    },
    settled: async () => {
      await current;
    },
    alone: async (work) => {
      while (current !== null) await current;
      const working = work().finally(() => {
        current = null;
      });
      current = working.then(() => undefined);
      current.catch(() => undefined);
      return working;
    },
  };
}
