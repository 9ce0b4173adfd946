import type { Dice } from "../../support/dice.ts";
import type { Caller, Gate, Passage } from "./passage.ts";
import { signal } from "./stage.ts";

/** What is done to a process at a point. */
export interface Incident {
  readonly point: string;
  readonly when: Passage["when"];
  readonly how: "kill" | "stop";
}

/** Who kills and stops functions. */
export interface Trouble {
  readonly gate: Gate;
  /** Points that have passed, with how often. */
  readonly passed: ReadonlyMap<string, number>;
  /** What was done, in order. */
  readonly done: readonly (Incident & Caller & { readonly at: number })[];
  /** Incidents that wait for their point. */
  armed(): number;
  arm(incidents: readonly Incident[]): void;
  /** At no point at all: whatever the process does just now. */
  strike(caller: Caller, how: Incident["how"]): void;
  /** Nothing more is done, and who was stopped is awake again. */
  end(): Promise<void>;
}

/** A lease is 30 s long, and somebody else must have had the time to take it. */
const STOPPED_MILLISECONDS = 33_000;

interface Settings {
  readonly dice: Dice;
  readonly mostStopped: number;
  /** At least so long between two incidents at points. */
  readonly breathMilliseconds: number;
}

export function causeTrouble({ dice, mostStopped, breathMilliseconds }: Settings): Trouble {
  const passed = new Map<string, number>();
  const done: Trouble["done"][number][] = [];
  const stopped = new Map<number, Promise<void>>();
  let waiting: Incident[] = [];
  let lastAt = 0;

  const note = (incident: Incident, { pid, worker }: Caller) => {
    lastAt = Date.now();
    done.push({ ...incident, pid, worker, at: lastAt });
  };
  const stop = (pid: number): Promise<void> => {
    signal(pid, "SIGSTOP");
    const awake = new Promise<void>((resolve) => {
      setTimeout(() => {
        signal(pid, "SIGCONT");
        stopped.delete(pid);
        resolve();
      }, STOPPED_MILLISECONDS + dice.below(4_000));
    });
    stopped.set(pid, awake);
    return awake;
  };
  const next = ({ point, when, pid }: Passage): Incident | null => {
    if (waiting.length === 0 || Date.now() - lastAt < breathMilliseconds || stopped.has(pid)) return null;
    const at = waiting.findIndex(
      (one) => one.point === point && one.when === when && (one.how === "kill" || stopped.size < mostStopped),
    );
    return at < 0 ? null : (waiting.splice(at, 1)[0] ?? null);
  };

  return {
    passed,
    done,
    armed: () => waiting.length,
    arm: (incidents) => waiting.push(...incidents),
    gate: async (passage) => {
      if (passage.when === "before") passed.set(passage.point, (passed.get(passage.point) ?? 0) + 1);
      const incident = next(passage);
      if (incident === null) return "go";
      note(incident, passage);
      if (incident.how === "kill") {
        signal(passage.pid, "SIGKILL");
        return "cut";
      }
      // Stopped before it asked, the question comes when it is awake; stopped after, the answer waits for it.
      const awake = stop(passage.pid);
      if (incident.when === "before") await awake;
      return "go";
    },
    strike: (caller, how) => {
      if (stopped.has(caller.pid) || (how === "stop" && stopped.size >= mostStopped)) return;
      note({ point: "at a random moment", when: "before", how }, caller);
      if (how === "kill") signal(caller.pid, "SIGKILL");
      else void stop(caller.pid);
    },
    end: async () => {
      waiting = [];
      await Promise.all(stopped.values());
    },
  };
}
