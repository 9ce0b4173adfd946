import { createDice } from "../../../support/doubles/dice.ts";
import { type Asked, ENGINE, type Run } from "./run.ts";
import type { Part } from "./stage/parts.ts";
import type { Incident, Plan } from "./trouble.ts";

/** At these, a stop is worth most: between a check and what follows it. */
const WORTH_A_STOP = /salesforce: (create|update|upsert|delete)|commit of (results|a page|a claim)|mark as sent/;

/** Those that announce changes die at points only, so that most of the random moments are the engine's. */
const AT_POINTS = [...ENGINE, "ring", "nudge"];

/** The part that an effect is in dies at one point of so many. */
const POINTS_PER_PART = 5;

/**
 * Seeds that follow each other divide the points, so that so many of them do everything, or in brief runs all, at every
 * point.
 */
const TURNS = 4;
const BRIEF_TURNS = 3;

/**
 * What is done at each point that is met. Each time its function is killed, before or after as the seed says, at some it is
 * stopped, and at some the part dies that the effect is in. In a brief run, so at every third point; in a thorough one, a
 * quarter of all that can be done.
 */
export function planOf({ seed, extent }: Asked): Plan {
  const dice = createDice(seed + 2);
  const offset = dice.below(POINTS_PER_PART);
  let met = 0;
  return (point) => {
    if (!AT_POINTS.some((worker) => point.startsWith(`${worker} |`))) return [];
    met += 1;
    const everything = everythingAt(point);
    if (extent === "thorough") return everything.filter((_, index) => (index + met + seed) % TURNS === 0);
    if (extent === "brief" && (met + seed) % BRIEF_TURNS !== 0) return [];
    const when = () => dice.pick(["before", "after"] as const);
    const [kill, stop, part] = [when(), point.includes("salesforce:") ? "before" : when(), when()];
    return everything.filter((one) => {
      if (one.whom !== "function") return one.when === part && (met + offset) % POINTS_PER_PART === 0;
      return one.how === "kill" ? one.when === kill : one.when === stop && WORTH_A_STOP.test(point);
    });
  };
}

function everythingAt(point: string): Incident[] {
  return (["before", "after"] as const).flatMap((when) => [
    { point, when, how: "kill", whom: "function" },
    { point, when, how: "stop", whom: "function" },
    { point, when, how: "kill", whom: partAt(point) },
  ]);
}

/** Queues, tables and schedules are the host's. */
function partAt(point: string): Part {
  if (point.includes("| postgres:")) return "PostgreSQL";
  return point.includes("| salesforce:") ? "Salesforce" : "host";
}

/** What a workspace passes once, as when its tables are created, has no second chance. */
export function pointsOf({ trouble }: Run): string[] {
  return [...trouble.passed].flatMap(([point, times]) => (times > 1 ? [point] : [])).sort();
}
