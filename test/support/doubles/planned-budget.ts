import type { PlannedBudget, Usage } from "../../../lib/model/calls/budget.ts";
import { DEFAULT_SHARE, type Plan } from "../../../lib/model/calls/plan.ts";

/** A budget whose plan leaves plenty, but for what the test says. */
export function plannedBudget(usage: Usage, more: Partial<Plan> = {}, since: Date | null = null): PlannedBudget {
  const left = { paceSeconds: 10, ringSeconds: 2, pushCalls: 10_000, spareCalls: 9_000 };
  const plan = { at: usage.at, allowed: 12_000, used: 0, ...left, ...more };
  return { usage, share: DEFAULT_SHARE, whenQuiet: null, plan, since, doorbell: null };
}
