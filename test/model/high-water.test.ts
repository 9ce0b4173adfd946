import { expect, test } from "vitest";
import { type HighWater, keepHighWater, rewindOf } from "../../lib/model/high-water.ts";

const at = (minutes: number): Date => new Date(Date.UTC(2026, 0, 1, 0, minutes));
const reached = (fence: number, logId: number, minutes: number): HighWater => ({ fence, logId, at: at(minutes) });

/** Six cycles a minute, of which each changes a row, and a report with each. */
function reports(minutes: number): readonly HighWater[] {
  let kept: readonly HighWater[] = [];
  for (let cycle = 0; cycle <= minutes * 6; cycle += 1)
    kept = keepHighWater(kept, { ...reached(cycle, cycle, 0), at: new Date(at(0).getTime() + cycle * 10_000) });
  return kept;
}

test("kept are the newest position, those of the last minutes, and one that is two to four minutes old", () => {
  const kept = reports(10);

  expect(kept[0]).toEqual(reached(60, 60, 10));
  const ages = kept.map((one) => (at(10).getTime() - one.at.getTime()) / 60_000);
  expect(ages.length).toBeLessThanOrEqual(5);
  expect(ages.at(-1)).toBeGreaterThanOrEqual(2);
  expect(ages.at(-1)).toBeLessThanOrEqual(4);
});

test.each([
  ["nothing was kept, as of a new mapping or one that a person has accepted", [], { fence: 1, logId: 0 }, null],
  ["nothing was lost", reports(10), { fence: 61, logId: 60 }, null],
  ["the log was pruned, which its sequence does not show", reports(10), { fence: 61, logId: 60 }, null],
  ["the last cycle was lost", reports(10), { fence: 60, logId: 60 }, "tail"],
  ["the last change was lost, and a later cycle was not", reports(10), { fence: 61, logId: 59 }, "tail"],
  ["the last minute was lost", reports(10), { fence: 55, logId: 54 }, "tail"],
  ["five minutes were lost", reports(10), { fence: 31, logId: 30 }, "rewound"],
  ["a day was lost, and other mappings have filled the log", reports(10), { fence: 3, logId: 900 }, "rewound"],
  ["it is new, and no older position is known", [reached(5, 5, 0)], { fence: 4, logId: 5 }, "rewound"],
] as const)("where %s", (_, kept, now, lost) => {
  expect(rewindOf(kept, { ...now, at: new Date((kept[0]?.at ?? at(0)).getTime() + 60_000) })).toBe(lost);
});

test.each([
  [14, 60, "tail"],
  [15, 60, "rewound"],
  [600, 60, "rewound"],
  [600, 61, null],
] as const)("%i minutes after its last report the fence %i is of a database that is %s", (minutes, fence, lost) => {
  expect(rewindOf(reports(10), { ...reached(fence, 60, 10 + minutes) })).toBe(lost);
});
