import { describe, expect, test } from "vitest";
import {
  afterAnswer,
  allowance,
  type Budget,
  endsBy,
  FRESH_BUDGET,
  isPullDue,
  isSparing,
  tellBudget,
} from "../../lib/model/budget.ts";

const now = new Date("2026-02-03T10:00:00Z");
const used = (share: number, at = now) => ({ used: Math.round(share * 1000), limit: 1000, at });

/** What a mapping of the default interval may do after the org told these shares, one after the other. */
function afterShares(...shares: number[]) {
  const budget = shares.reduce<Budget>((before, share) => afterAnswer(before, used(share)), FRESH_BUDGET);
  return allowance(budget, 10, now);
}

test.each([
  [0.1, 10, true],
  [0.69, 10, true],
  [0.7, 30, true],
  [0.75, 60, true],
  [0.8, 120, true],
  [0.85, null, true],
  [0.95, null, false],
  [1.2, null, false],
])("at %f of the org's calls a pull comes every %s s and pushes are allowed: %s", (share, pullEverySeconds, pushes) => {
  expect(afterShares(share)).toEqual({ pullEverySeconds, pushes });
});

describe("a use that hovers around a threshold", () => {
  test("does not make the pulls flap", () => {
    expect(afterShares(0.7, 0.69)).toEqual(afterShares(0.7));
    expect(afterShares(0.7, 0.69, 0.71, 0.68)).toEqual(afterShares(0.7));
  });

  test("lets go once it is clearly below", () => {
    expect(afterShares(0.7, 0.66)).toEqual(afterShares(0.1));
    expect(afterShares(0.96, 0.5)).toEqual(afterShares(0.1));
  });
});

test("while everything waits, one cycle in five minutes may ask whether it still has to", () => {
  const budget = afterAnswer(FRESH_BUDGET, used(1));
  const later = new Date(now.getTime() + 300_000);

  expect(allowance(budget, 10, now).pushes).toBe(false);
  expect(allowance(budget, 10, later)).toEqual({ pullEverySeconds: 10, pushes: true });
});

test("a pull is due by the interval, a beat's jitter allowed for", () => {
  const before = (seconds: number) => new Date(now.getTime() - seconds * 1000);

  expect(isPullDue(10, before(6), now)).toBe(true);
  expect(isPullDue(10, before(4), now)).toBe(false);
  expect(isPullDue(600, before(590), now)).toBe(false);
  expect(isPullDue(10, null, now)).toBe(true);
});

describe("what is held back is told", () => {
  const later = (hours: number) => new Date(now.getTime() + hours * 3_600_000);
  const counted = (share: number, from: Budget = FRESH_BUDGET, at = now) => afterAnswer(from, used(share, at));

  test.each([
    [0.69, "Salesforce counts 690 of 1000 API calls in 24 hours: pulls and saves run as configured"],
    [
      0.7,
      "Salesforce counts 700 of 1000 API calls in 24 hours: pulls run 3 times less often, changes are still sent; " +
        "this ends below 670 calls, by 2026-02-04T10:00Z unless other clients use more",
    ],
    [
      0.85,
      "Salesforce counts 850 of 1000 API calls in 24 hours: pulls have stopped, changes are still sent; " +
        "this ends below 820 calls, by 2026-02-04T10:00Z unless other clients use more",
    ],
    [
      0.96,
      "Salesforce counts 960 of 1000 API calls in 24 hours: pulls have stopped, changes wait; " +
        "this ends below 920 calls, by 2026-02-04T10:00Z unless other clients use more",
    ],
  ])("at %f", (share, text) => {
    expect(tellBudget(counted(share))).toBe(text);
  });

  test("and ends a day after it began, however often the count is taken meanwhile", () => {
    const first = counted(0.72);
    const second = counted(0.74, first, later(5));
    const third = counted(0.76, second, later(6));

    expect([first, second, third].map(endsBy)).toEqual([later(24), later(24), later(30)]);
    expect(endsBy(counted(0.1, third, later(7)))).toBeNull();
  });

  test("of mappings that pull from the first step on, of others once changes wait", () => {
    const steps = [0.6, 0.7, 0.85, 0.96].map((share) => counted(share));

    expect(steps.map((budget) => isSparing(budget, true))).toEqual([false, true, true, true]);
    expect(steps.map((budget) => isSparing(budget, false))).toEqual([false, false, false, true]);
  });
});
