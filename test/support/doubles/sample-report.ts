import type { KeptReport } from "../../../lib/health/ports.ts";
import type { MappingFigures } from "../../../lib/metrics/ports.ts";
import { plannedBudget } from "./planned-budget.ts";

/** A workspace with a sample of every series: a broken mapping whose rows wait, one that rests, and two webhooks. */
export function sampleReport(): KeptReport {
  const at = new Date(30_000);
  const busy = {
    id: "m1",
    object: "Contact",
    waiting: 3,
    oldestAt: 10_000,
    heldDeletes: 2,
    stalled: true,
    inboundErrors: 1,
    rings: true,
  };
  const idle = { id: "m2", object: "Account", waiting: 0, oldestAt: null, heldDeletes: 0, inboundErrors: 0 };
  const mappings: MappingFigures[] = [
    { ...busy, conflicts: 4, lastCycleAt: 50_000, pulled: 5, lagP50: 4, lagP95: 9.5 },
    { ...idle, conflicts: 0, lastCycleAt: null, pulled: 0, lagP50: null, lagP95: null },
  ];
  const webhooks = [
    { id: "whk_1", isFailing: true, deliveries: { successful: 7, failed: 2, pending: 1 } },
    { id: "whk_2", isFailing: false },
  ];
  const broken = {
    mappingId: "m1",
    broken: true,
    failure: null,
    message: null,
    said: null,
    failingSince: at,
    brokenSince: at,
    restUntil: null,
    callSize: null,
    rewoundAt: null,
  };
  const usage = { used: 800, limit: 1000, at };
  const doorbell = {
    madeAt: at,
    pepper: 1,
    heard: new Map([["m1", { rungAt: at, aliveSince: at, missedAt: null }]]),
  };
  const budget = { ...plannedBudget(usage, { allowed: 640 }), doorbell };
  return { mappings: [broken], usage, budget, upgradeRefusal: null, figures: { mappings, webhooks }, openPolls: [] };
}
