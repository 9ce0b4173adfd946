import { setTimeout as pause } from "node:timers/promises";
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

/** What to do at a point, which is decided once, when the point is first met. */
export type Plan = (point: string) => readonly Incident[];

/** Who kills and stops functions. */
export type Trouble = ReturnType<typeof causeTrouble>;

/** A lease is 30 s long, and another cycle must have had the time to acquire it. */
const STOPPED_MILLISECONDS = 33_000;

/** So many functions are stopped at a time. */
const MOST_STOPPED = 8;

/** At least so long between two incidents at points. */
const BREATH_MILLISECONDS = 600;

export function causeTrouble(dice: Dice) {
  /** Points that have passed, with how often. */
  const passed = new Map<string, number>();
  /** What was done, in order. */
  const done: (Incident & Caller & { readonly at: number })[] = [];
  const stopped = new Map<number, Promise<void>>();
  const planned = new Set<string>();
  let plan: Plan | null = null;
  let parts: Pick<Parts, "strike"> | null = null;
  let waiting: Incident[] = [];
  let lastAt = 0;
  let isCalm = false;

  const note = (incident: Incident, { pid, worker }: Caller) => {
    lastAt = Date.now();
    done.push({ ...incident, pid, worker, at: lastAt });
  };
  const stop = (pid: number): Promise<void> => {
    signal(pid, "SIGSTOP");
    const awake = pause(STOPPED_MILLISECONDS + dice.below(4_000)).then(() => {
      signal(pid, "SIGCONT");
      stopped.delete(pid);
    });
    stopped.set(pid, awake);
    return awake;
  };
  const next = ({ point, when, pid }: Passage): Incident | null => {
    if (isCalm || waiting.length === 0 || Date.now() - lastAt < BREATH_MILLISECONDS || stopped.has(pid)) return null;
    const at = waiting.findIndex(
      (one) => one.point === point && one.when === when && (one.how === "kill" || stopped.size < MOST_STOPPED),
    );
    const incident = waiting[at];
    if (!incident || (incident.whom !== "function" && !parts?.strike(incident.whom, incident.how))) return null;
    waiting.splice(at, 1);
    return incident;
  };
  const meet = (point: string) => {
    if (plan === null || planned.has(point)) return;
    planned.add(point);
    waiting.push(...plan(point));
  };

  return {
    passed,
    done,
    /** Incidents that wait for their point. */
    armed: (): readonly Incident[] => waiting,
    /** From now on the plan is carried out, at these points and at all that are met. */
    arm: (following: Plan, struck: Pick<Parts, "strike">, points: readonly string[]) => {
      [plan, parts] = [following, struck];
      for (const point of points) meet(point);
    },
    gate: async (passage: Passage): ReturnType<Gate> => {
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
    /** At no point at all: whatever the process does just now. */
    strike: (caller: Caller, how: Incident["how"]) => {
      if (stopped.has(caller.pid) || (how === "stop" && stopped.size >= MOST_STOPPED)) return;
      note({ point: "at a random moment", when: "before", how, whom: "function" }, caller);
      if (how === "kill") signal(caller.pid, "SIGKILL");
      else void stop(caller.pid);
    },
    /** Nothing is done at points until this is called with false. */
    calm: (to: boolean) => {
      isCalm = to;
    },
    /** Nothing more is done, and who was stopped is awake again. */
    end: async () => {
      [plan, waiting] = [null, []];
      await Promise.all(stopped.values());
    },
  };
}
