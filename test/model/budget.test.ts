import { expect, test } from "vitest";
import { hoursOf, lastChange } from "../../lib/model/calls/account.ts";
import {
  afterPlan,
  FRESH_BUDGET,
  isSparing,
  mayPush,
  maySpare,
  pullSeconds,
  reportBudget,
} from "../../lib/model/calls/budget.ts";
import { plannedBudget } from "../support/doubles/planned-budget.ts";

const now = new Date("2026-02-03T10:00:00Z");
const later = (minutes: number) => new Date(now.getTime() + minutes * 60_000);
const usage = { used: 690, limit: 1_000, at: now };
const SLOW = { paceSeconds: 22, allowed: 800, used: 600 };
const SPENT = { paceSeconds: 3_600, allowed: 800, used: 790, pushCalls: 0, spareCalls: 0 };

const QUIET = { isQuiet: true, isRung: false };
const every = (pollingSeconds: number, whenQuietSeconds: number | null = null) => ({
  pollingSeconds,
  whenQuietSeconds,
});

test("pulls keep to the pace, or to their own interval where that is longer, and before the first plan to that", () => {
  const fresh = [pullSeconds(FRESH_BUDGET, every(10), QUIET), mayPush(FRESH_BUDGET, 1), maySpare(FRESH_BUDGET, 1)];
  expect(fresh).toEqual([10, true, true]);
  const budget = plannedBudget(usage, SLOW);

  expect([10, 60].map((pollingSeconds) => pullSeconds(budget, every(pollingSeconds), QUIET))).toEqual([22, 60]);
  expect(pullSeconds(budget, every(10, 20), QUIET)).toBe(22);
  expect([10, 60].map((pollingSeconds) => isSparing(budget, { pollingSeconds }, true))).toEqual([true, false]);
  expect(isSparing(budget, { pollingSeconds: 10 }, false)).toBe(false);
  expect(isSparing(plannedBudget(usage, SPENT), { pollingSeconds: 3_600 }, false)).toBe(true);
});

test("saves and other work stop at what the plan left them, calls that were sent since included", () => {
  const budget = plannedBudget(usage, { pushCalls: 10, spareCalls: 5 });

  expect([9, 10].map((calls) => mayPush(budget, calls))).toEqual([true, false]);
  expect([4, 5].map((calls) => maySpare(budget, calls))).toEqual([true, false]);
});

test("what is held back is reported", () => {
  const counted =
    "Salesforce counts 690 of 1000 API calls in 24 hours, Bridge 600 of the 800 that are left to its share (80 % of them)";

  const reports = [{ allowed: 800, used: 600 }, SLOW].map((plan) => reportBudget(plannedBudget(usage, plan)));

  expect(reports).toEqual([
    `${counted}: pulls and saves run as configured`,
    `${counted}: pulls of a mapping come every 22 s or as configured, changes are sent; more calls are left as those of 24 hours ago leave the count`,
  ]);
});

test("a spent share says since when changes wait, however long pulls were apart before", () => {
  const { plan } = plannedBudget(usage, SPENT);
  const earlier = { ...plannedBudget(usage, SLOW).plan, at: later(-60) };
  const first = afterPlan(afterPlan(FRESH_BUDGET, usage, earlier), usage, plan);
  const second = afterPlan(first, usage, { ...plan, at: later(1) });

  expect(reportBudget(second)).toContain("changes wait since 2026-02-03T10:00Z");
  expect(afterPlan(second, usage, plannedBudget(usage).plan).since).toBeNull();
});

test("hours are what totals rose by, a total that fell counts nothing, and the last change was in the last hour with one", () => {
  const totals = [
    { hour: 7, calls: 130, changes: 9 },
    { hour: 0, calls: 0, changes: 0 },
    { hour: 5, calls: 100, changes: 4 },
    { hour: 9, calls: 20, changes: 9 },
  ];

  const hours = hoursOf(totals);

  expect(hours).toEqual([
    { hour: 5, calls: 100, changes: 4 },
    { hour: 7, calls: 30, changes: 5 },
    { hour: 9, calls: 0, changes: 0 },
  ]);
  expect(lastChange(hours)).toEqual(new Date(8 * 3_600_000));
  expect(lastChange(hours.slice(2))).toBeNull();
});
