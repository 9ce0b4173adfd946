import { describe, expect, test } from "vitest";
import { isPullDue } from "../../../lib/model/calls/interval.ts";
import { DEFAULT_SHARE, planCalls } from "../../../lib/model/calls/plan.ts";
import { BURSTS, isBusiness, liveThrough, type Story, WHEN_QUIET } from "../../support/doubles/month-of-calls.ts";
import { firstInGate } from "../../support/run/whole-grid.ts";

const live = (story: Partial<Story>) =>
  liveThrough({ mappings: 10, limit: 15_000, share: DEFAULT_SHARE, days: 3, ...story });

describe("the share is never exceeded, pulls stretch and never stop, saves continue", () => {
  const STORIES: readonly (readonly [string, Partial<Story>, number])[] = [
    // Few mappings fit into a Developer Edition's calls, so that ten seconds stay ten seconds.
    ["five idle mappings", { mappings: 5 }, 10],
    ["ten mappings with bursts", BURSTS, 120],
    ["ten mappings that are asked about less often when quiet", WHEN_QUIET, 70],
    ["ten mappings with bursts that ring without end", { ...BURSTS, rings: true }, 300],
    ["at most 8,000 a day", { ...BURSTS, share: { share: 1, most: 8_000 } }, 900],
    ["five mappings that ring without end", { mappings: 5, rings: true }, 300],
    ["a hundred mappings with bursts", { ...BURSTS, mappings: 100 }, 3_600],
    ["two hundred mappings that ring without end", { mappings: 200, rings: true, days: 1 }, 600],
  ];

  test.each(firstInGate(5, STORIES))("%s", (_, story, longest) => {
    const lived = live(story);

    expect(lived.mostOfShare).toBeLessThanOrEqual(1);
    expect(lived.longest).toBeLessThanOrEqual(longest);
    expect(lived.longestSave).toBeLessThanOrEqual(600);
    // Rings may use a part of the spare calls alone (doorbells.md).
    if (lived.longest > 10 && !story.rings)
      expect(lived.mostOfShare, "most of what is left is used").toBeGreaterThan(0.6);
  });

  test("others who use half of the org's calls leave less to pulls, and the org is not used up", () => {
    const { mostOfOrg, longest } = live({ others: (minute) => (isBusiness(minute) ? 7_500 / 600 : 0), days: 5 });

    expect(mostOfOrg).toBeLessThanOrEqual(1);
    expect(longest).toBeLessThanOrEqual(3_660);
  });
});

const now = new Date("2026-02-03T10:00:00Z");
const five = Array.from({ length: 5 }, () => ({ everySeconds: 10, queries: 1 }));

/** The plan of five mappings in an org whose calls were used, by Bridge `own` of them, two hours ago. */
const planOf = (used: number, own: number) => {
  const hours = [{ hour: now.getTime() / 3_600_000 - 2, calls: own, changes: 0 }];
  return planCalls({ now, usage: { used, limit: 15_000, at: now }, share: DEFAULT_SHARE, hours, mappings: five });
};

test("a fresh workspace pulls every ten seconds, and has 80 % of the org's calls", () => {
  const plan = { allowed: 12_000, used: 0, paceSeconds: 10, ringSeconds: 7, pushCalls: 11_280, spareCalls: 10_680 };
  expect(planOf(0, 0)).toMatchObject(plan);
});

test.each([
  // Of 15,000 calls 300 are left alone, and others need as many as they made in the last 24 hours.
  [0, 0, 12_000],
  [2_700, 0, 12_000],
  [2_701, 0, 11_999],
  [9_000, 0, 5_700],
  [9_000, 4_000, 9_700],
  [14_700, 0, 0],
  [15_000, 0, 0],
])("of %i calls made, %i of them by Bridge, %i are allowed", (used, own, allowed) => {
  // What others have used holds no save back.
  expect(planOf(used, own)).toMatchObject({ allowed, used: own, pushCalls: 11_280 - own });
});

test("once the share is spent, saves and loads wait, and pulls come once an hour", () => {
  const plan = planOf(12_000, 12_000);

  expect(plan).toMatchObject({ used: 12_000, pushCalls: 0, spareCalls: 0 });
  expect(plan.paceSeconds).toBe(3_664); // the API answers whole seconds
});

test.each([10, 20, 21.6, 60, 97, 600])(
  "a mapping is polled every %d seconds on average, by beats of ten",
  (seconds) => {
    let [last, pulls] = [now, 0];
    for (let at = 10; at <= 86_400; at += 10) {
      const beat = new Date(now.getTime() + at * 1000);
      if (!isPullDue("ws_1", seconds, last, beat)) continue;
      [last, pulls] = [beat, pulls + 1];
    }

    expect(Math.abs(pulls - 86_400 / seconds)).toBeLessThanOrEqual(1);
  },
);
