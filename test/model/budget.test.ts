import { describe, expect, test } from "vitest";
import { afterAnswer, allowance, type Budget, FRESH_BUDGET, isPullDue } from "../../lib/model/budget.ts";

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
