import type { Doorbell } from "../doorbell.ts";
import type { Mapping } from "../mapping/mapping.ts";
import { everySeconds, FULL_PACE_SECONDS, type Pulling } from "./interval.ts";
import { DEFAULT_SHARE, type Plan, type Share, type Usage } from "./plan.ts";

/** What an org has left for us, and how that is spent. */
export interface Budget {
  /** The org's own count of the last 24 hours and its limit; null before the first answer. */
  readonly usage: Usage | null;
  /** Of the org's calls, what Bridge may make. */
  readonly share: Share;
  /** Seconds between pulls of mappings that are quiet and do not say it themselves; null: as when they are not. */
  readonly whenQuiet: number | null;
  /** Null: nothing is planned yet, and all runs as configured. */
  readonly plan: Plan | null;
  /** Since when pulls are further apart than every ten seconds, or since when saves wait; null: neither. */
  readonly since: Date | null;
  /** The workspace's; null: there is none. */
  readonly doorbell: Doorbell | null;
}

export type { Usage };

export const FRESH_BUDGET: Budget = {
  usage: null,
  share: DEFAULT_SHARE,
  whenQuiet: null,
  plan: null,
  since: null,
  doorbell: null,
};

/** `normal`: as configured; `stretched`: pulls are further apart; `waiting`: the share is spent, and saves wait as well. */
export type Pace = "normal" | "stretched" | "waiting";

export function paceOf(plan: Plan | null): Pace {
  if (plan === null || (plan.paceSeconds <= FULL_PACE_SECONDS && plan.pushCalls > 0)) return "normal";
  return plan.pushCalls > 0 ? "stretched" : "waiting";
}

export type PlannedBudget = Budget & { readonly usage: Usage; readonly plan: Plan };

/** The budget with a new plan. */
export function afterPlan(before: Budget, usage: Usage, plan: Plan): PlannedBudget {
  const pace = paceOf(plan);
  const since = pace === "normal" ? null : (pace === paceOf(before.plan) && before.since) || plan.at;
  return { ...before, usage, plan, since };
}

/** What is held back for the sake of the org's calls, in a sentence. */
export function reportBudget({ usage, share, plan, since }: PlannedBudget): string {
  const ours = share.most === null ? `${Math.round(share.share * 100)} % of them` : `at most ${share.most}`;
  const counted = `Salesforce counts ${usage.used} of ${usage.limit} API calls in 24 hours, Bridge ${plan.used} of the ${plan.allowed} that are left to its share (${ours})`;
  const pace = paceOf(plan);
  if (pace === "normal") return `${counted}: pulls and saves run as configured`;
  const sent = pace === "waiting" ? `changes wait since ${since?.toISOString().slice(0, 16)}Z` : "changes are sent";
  return `${counted}: pulls of a mapping come every ${plan.paceSeconds} s or as configured, ${sent}; more calls are left as those of 24 hours ago leave the count`;
}

/** Whether any of a mapping's work is held back. */
export const isSparing = ({ plan }: Budget, mapping: { readonly pollingSeconds: number }, pulls: boolean): boolean =>
  plan !== null && (paceOf(plan) === "waiting" || (pulls && plan.paceSeconds > mapping.pollingSeconds));

/** Seconds between two pulls of a mapping as the plan has it. */
export const pullSeconds = (
  { plan, whenQuiet }: Pick<Budget, "plan" | "whenQuiet">,
  { pollingSeconds, whenQuietSeconds }: Pick<Mapping, "pollingSeconds" | "whenQuietSeconds">,
  now: Pick<Pulling, "isQuiet" | "isRung">,
): number => everySeconds({ pollingSeconds, whenQuiet: whenQuietSeconds ?? whenQuiet, ...now }, plan?.paceSeconds);

/** Whether saves may make calls, and work that can wait; so many were sent since the plan. */
export const mayPush = ({ plan }: Budget, calls: number): boolean => plan === null || plan.pushCalls > calls;
export const maySpare = ({ plan }: Budget, calls: number): boolean => plan === null || plan.spareCalls > calls;

/** Calls that were sent, by their labels. */
export const madeOf = (calls: Readonly<Record<string, number>>): number =>
  Object.values(calls).reduce((sum, made) => sum + made, 0);
