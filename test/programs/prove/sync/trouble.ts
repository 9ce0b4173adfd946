import type { Dice } from "../../../support/doubles/dice.ts";
import type { Part, Parts } from "./stage/parts.ts";
import { signal } from "./stage/stage.ts";
import type { Caller, Gate, Passage } from "./wire/passage.ts";

/** What is done at a point: to the function that is there, or to the part that its effect is in. */
export interface Incident {
  readonly point: string;
  readonly when: Passage["when"];
  readonly how: "kill" | "stop";
  readonly whom: "function" | Part;
}

/** What to do. */
export interface Plan {
  readonly parts: Parts;
  /** What to do at a point, which is decided once, when the point is first met. */
  incidentsAt(point: string): readonly Incident[];
}

/** Who kills and stops functions. */
export interface Trouble {
  readonly gate: Gate;
  /** Points that have passed, with how often. */
  readonly passed: ReadonlyMap<string, number>;
  /** What was done, in order. */
  readonly done: readonly (Incident & Caller & { readonly at: number })[];
  /** Incidents that wait for their point. */
  armed(): readonly Incident[];
  /** From now on the plan is carried out, at these points and at all that are met. */
  arm(plan: Plan, points: readonly string[]): void;
  /** At no point at all: whatever the process does just now. */
  strike(caller: Caller, how: Incident["how"]): void;
  /** Nothing is done at points until this is called with false. */
  calm(isCalm: boolean): void;
  /** Nothing more is done, and who was stopped is awake again. */
  end(): Promise<void>;
}

/** A lease is 30 s long, and another cycle must have had the time to acquire it. */
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
  const planned = new Set<string>();
  let plan: Plan | null = null;
  let waiting: Incident[] = [];
  let lastAt = 0;
  let isCalm = false;

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
    if (isCalm || waiting.length === 0 || Date.now() - lastAt < breathMilliseconds || stopped.has(pid)) return null;
    const at = waiting.findIndex(
      (one) => one.point === point && one.when === when && (one.how === "kill" || stopped.size < mostStopped),
    );
    const incident = waiting[at];
    if (!incident || (incident.whom !== "function" && !plan?.parts.strike(incident.whom, incident.how))) return null;
    waiting.splice(at, 1);
    return incident;
  };
  const meet = (point: string) => {
    if (plan === null || planned.has(point)) return;
    planned.add(point);
    waiting.push(...plan.incidentsAt(point));
  };

  return {
    passed,
    done,
    armed: () => waiting,
    arm: (next, points) => {
      plan = next;
      for (const point of points) meet(point);
    },
    gate: async (passage) => {
      meet(passage.point);
      if (passage.when === "before") passed.set(passage.point, (passed.get(passage.point) ?? 0) + 1);
      const incident = next(passage);
      if (incident === null) return "go";
      note(incident, passage);
      if (incident.whom !== "function") return "go";
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
      note({ point: "at a random moment", when: "before", how, whom: "function" }, caller);
      if (how === "kill") signal(caller.pid, "SIGKILL");
      else void stop(caller.pid);
    },
    calm: (to) => {
      isCalm = to;
    },
    end: async () => {
      [plan, waiting] = [null, []];
      await Promise.all(stopped.values());
    },
  };
}
