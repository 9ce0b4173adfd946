import { isDeepStrictEqual } from "node:util";
import * as z from "zod/mini";
import { whenQuietRule } from "../config/mapping-rules.ts";
import type { Mappings } from "../config/ports.ts";
import type { EngineReports } from "../health/ports.ts";
import type { Counters } from "../metrics/ports.ts";
import { allHours, hoursOf } from "../model/calls/account.ts";
import { type Budget, paceOf, type Usage } from "../model/calls/budget.ts";
import { type Asking, idleCallsPerDay } from "../model/calls/forecast.ts";
import { FULL_PACE_SECONDS } from "../model/calls/interval.ts";
import { type HourOfCalls, planCalls } from "../model/calls/plan.ts";
import { SalesforceRefusal } from "../model/change/refusal.ts";
import { auditEntry, type Doing } from "../model/workspace/audit.ts";
import { askedOf, type Costly, type IsRung, idleCallsOfEach, rungBy } from "./forecast.ts";
import type { CallSettings, CallShares } from "./ports.ts";
import { body, nullableTimestamp, timestamp } from "./shapes.ts";

/** What mappings cost, and how far the share stretches their pulls; null: the org has not reported its limit yet. */
const cost = z.object({ calls_per_day: z.int(), pace_seconds: z.nullable(z.int()) });

/** What the mappings will cost once something is carried out, beside what they cost now. */
export const costThen = z.extend(cost, {
  calls_per_day_now: z.int(),
  calls_limit: z.nullable(z.int()),
  /** Of the limit, what Bridge may make. */
  allowed_calls: z.nullable(z.int()),
});
export type CostThen = z.infer<typeof costThen>;

/** The org's API calls: what was used, what is left, and what the engine does about it. */
export const budgetView = z.object({
  calls_used: z.nullable(z.int()),
  calls_limit: z.nullable(z.int()),
  calls_left: z.nullable(z.int()),
  counted_at: nullableTimestamp(),
  forecast_calls_per_day: z.int(),
  pace: z.enum(["normal", "stretched", "waiting"]),
  since: nullableTimestamp(),
  pace_seconds: z.int(),
  calls_share: z.number(),
  most_calls: z.nullable(z.int()),
  when_quiet_seconds: z.nullable(z.int()),
  allowed_calls: z.nullable(z.int()),
  own_calls: z.nullable(z.int()),
  hours: z.array(
    z.object({ mapping_id: z.string(), sf_object: z.string(), at: timestamp(), calls: z.int(), changes: z.int() }),
  ),
  with_doorbells: cost,
  with_mapping: z.nullable(
    z.object({
      own_calls_per_day: z.int(),
      forecast_calls_per_day: z.int(),
    }),
  ),
});

/** A mapping that is not saved yet, and the one that it replaces; null: a new one. */
export interface Wanted extends Pick<Costly, "pollingSeconds" | "whenQuietSeconds" | "syncDirection"> {
  readonly mappingId: string | null;
  readonly isFiltered: boolean;
  /** Left out: as it is. */
  readonly notifyEnabled?: boolean | undefined;
}

const SHARE = "must be a number from 0.001 to 1, such as 0.8";
const MOST = "must be a whole number of calls a day, at least 1, or null for none";

interface Needs {
  readonly mappings: Pick<Mappings, "list">;
  readonly engine: Pick<EngineReports, "read">;
  readonly counters: Pick<Counters, "hours">;
}

/** What a workspace has left of its org's calls, and what a mapping would take of it. */
export async function readBudget(
  needs: Needs,
  workspaceId: string,
  at: Date,
  wanted: Wanted | null,
): Promise<z.infer<typeof budgetView>> {
  const [{ mappings }, { budget }, kept] = await Promise.all([
    needs.mappings.list(workspaceId),
    needs.engine.read(workspaceId),
    needs.counters.hours(workspaceId),
  ]);
  const { usage, plan, share, whenQuiet, since } = budget;
  const spending = spendingOf(budget, kept, at);
  return {
    calls_used: usage?.used ?? null,
    calls_limit: usage?.limit ?? null,
    calls_left: usage === null ? null : Math.max(0, usage.limit - usage.used),
    counted_at: usage?.at.toISOString() ?? null,
    forecast_calls_per_day: idleCallsPerDay(askedOf(mappings, whenQuiet, spending.isRung)),
    pace: paceOf(plan),
    since: since?.toISOString() ?? null,
    pace_seconds: plan?.paceSeconds ?? FULL_PACE_SECONDS,
    calls_share: share.share,
    most_calls: share.most,
    when_quiet_seconds: whenQuiet,
    allowed_calls: plan?.allowed ?? null,
    own_calls: plan?.used ?? null,
    hours: kept.flatMap(({ mappingId, sfObject, hours }) =>
      hoursOf(hours)
        .filter(({ hour }) => hour * HOUR_MILLISECONDS > at.getTime() - 25 * HOUR_MILLISECONDS)
        .map(({ hour, calls, changes }) => ({
          mapping_id: mappingId,
          sf_object: sfObject,
          at: new Date(hour * HOUR_MILLISECONDS).toISOString(),
          calls,
          changes,
        })),
    ),
    with_doorbells: costOf(
      askedOf(mappings, whenQuiet, () => true),
      spending,
    ),
    with_mapping: wanted && withMapping(mappings, wanted, whenQuiet, spending.isRung),
  };
}

const HOUR_MILLISECONDS = 3_600_000;

interface Spending {
  readonly budget: Budget;
  readonly hours: readonly HourOfCalls[];
  readonly at: Date;
  readonly isRung: IsRung;
}

function spendingOf(budget: Budget, kept: Awaited<ReturnType<Counters["hours"]>>, at: Date): Spending {
  const hours = allHours(kept.map((one) => hoursOf(one.hours)));
  return { budget, hours, at, isRung: rungBy(budget, at) };
}

const costOf = (
  asked: readonly Asking[],
  spending: Spending,
  plan = planOf(asked, spending),
): z.infer<typeof cost> => ({
  calls_per_day: idleCallsPerDay(asked),
  pace_seconds: plan?.paceSeconds ?? null,
});

const planOf = (mappings: readonly Asking[], { budget, hours, at }: Spending) =>
  budget.usage && planCalls({ now: at, usage: budget.usage, share: budget.share, hours, mappings });

/** What a workspace's mappings will cost. An org that no cycle has asked yet is asked for its limit, for one call. */
export async function readCostThen(
  needs: Needs & { readonly readUsage: (workspaceId: string) => Promise<Usage> },
  workspaceId: string,
  at: Date,
  then: readonly Costly[],
): Promise<CostThen> {
  const [{ mappings }, { budget }, kept] = await Promise.all([
    needs.mappings.list(workspaceId),
    needs.engine.read(workspaceId),
    needs.counters.hours(workspaceId),
  ]);
  const usage = budget.usage ?? (await needs.readUsage(workspaceId).catch(nullIfRefused));
  const spending = spendingOf({ ...budget, usage }, kept, at);
  const asked = askedOf(then, budget.whenQuiet, spending.isRung);
  const plan = planOf(asked, spending);
  return {
    ...costOf(asked, spending, plan),
    calls_per_day_now: idleCallsPerDay(askedOf(mappings, budget.whenQuiet, spending.isRung)),
    calls_limit: usage?.limit ?? null,
    allowed_calls: plan?.allowed ?? null,
  };
}

function nullIfRefused(error: unknown): null {
  if (error instanceof SalesforceRefusal) return null;
  throw error;
}

function withMapping(
  mappings: readonly Costly[],
  { mappingId, isFiltered, notifyEnabled, ...settings }: Wanted,
  whenQuiet: number | null,
  isRung: IsRung,
): z.infer<typeof budgetView>["with_mapping"] {
  const id = mappingId ?? "new";
  const before = mappings.find((mapping) => mapping.id === id);
  const filter = isFiltered ? "it has one" : null;
  const rings = notifyEnabled ?? before?.notifyEnabled ?? false;
  const asked = { ...settings, id, active: true, deletedAt: null, notifyEnabled: rings, filter };
  const all = idleCallsOfEach([...mappings.filter((mapping) => mapping !== before), asked], whenQuiet, isRung);
  return {
    own_calls_per_day: all.get(id) ?? 0,
    forecast_calls_per_day: [...all.values()].reduce((sum, one) => sum + one, 0),
  };
}

/** What may be changed of it; what is left out stays. */
export const budgetChange = body({
  calls_share: z.optional(z.number({ error: SHARE }).check(z.gte(0.001, { error: SHARE }), z.lte(1, { error: SHARE }))),
  most_calls: z.optional(
    z.nullable(z.int({ error: MOST }).check(z.gte(1, { error: MOST }), z.lte(100_000_000, { error: MOST }))),
  ),
  when_quiet_seconds: whenQuietRule,
});

/** Sets the share, to which the next plan keeps within a minute, and how often quiet mappings are asked about. */
export async function changeBudget(
  { engine, shares }: Pick<Needs, "engine"> & { readonly shares: CallShares },
  by: Doing,
  wanted: z.infer<typeof budgetChange>,
): Promise<void> {
  const { workspaceId } = by;
  const { share, whenQuiet } = (await engine.read(workspaceId)).budget;
  const from: CallSettings = { calls_share: share.share, most_calls: share.most, when_quiet_seconds: whenQuiet };
  const to: CallSettings = Object.assign({ ...from }, wanted);
  if (isDeepStrictEqual(from, to)) return;
  await shares.set(workspaceId, to, auditEntry(by, "workspace.budget_changed", workspaceId, { from, to }));
}
