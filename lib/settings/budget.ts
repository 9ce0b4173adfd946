import * as z from "zod/mini";
import type { Mappings } from "../config/ports.ts";
import type { EngineReports } from "../health/ports.ts";
import { allowance, endsBy } from "../model/budget.ts";
import { idleCallsPerDay } from "./forecast.ts";
import { nullableTimestamp } from "./shapes.ts";

/** The org's API calls: what was used, what is left, and what the engine does about it. */
export const budgetView = z.object({
  /** Of the last 24 hours, by whomever; null before the first answer of the org. */
  calls_used: z.nullable(z.int()),
  calls_limit: z.nullable(z.int()),
  calls_left: z.nullable(z.int()),
  counted_at: nullableTimestamp(),
  /** Calls a day of the active mappings while nothing changes. */
  forecast_calls_per_day: z.int(),
  /** `normal`: as configured; `stretched`: further apart; `pushes_only`: no pulls; `waiting`: nothing is asked. */
  pace: z.enum(["normal", "stretched", "pushes_only", "waiting"]),
  /** When all calls counted as the pace changed have left the count, so that it is `normal` again; null: it is. */
  ends_by: nullableTimestamp(),
});

interface Needs {
  readonly mappings: Pick<Mappings, "list">;
  readonly engine: EngineReports;
}

/** A polling interval of one second tells by how much pulls are stretched. */
const ONE_SECOND = 1;

/** What a workspace has left of its org's calls. */
export async function readBudget(needs: Needs, workspaceId: string, at: Date): Promise<z.infer<typeof budgetView>> {
  const [{ mappings }, { usage, budgetStep, budgetSince }] = await Promise.all([
    needs.mappings.list(workspaceId),
    needs.engine.read(workspaceId),
  ]);
  const budget = { usage, step: budgetStep, since: budgetSince };
  const { pullEverySeconds, pushes } = allowance(budget, ONE_SECOND, at);
  const isStretched = pullEverySeconds !== null && pullEverySeconds > ONE_SECOND;
  return {
    calls_used: usage?.used ?? null,
    calls_limit: usage?.limit ?? null,
    calls_left: usage === null ? null : Math.max(0, usage.limit - usage.used),
    counted_at: usage?.at.toISOString() ?? null,
    forecast_calls_per_day: idleCallsPerDay(mappings),
    pace: !pushes ? "waiting" : pullEverySeconds === null ? "pushes_only" : isStretched ? "stretched" : "normal",
    ends_by: endsBy(budget)?.toISOString() ?? null,
  };
}
