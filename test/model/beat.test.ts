import { expect, test } from "vitest";
import { firstMinuteOf, periodAt, slotsOf, slotsUntil } from "../../lib/model/beat.ts";

/** The beginning of a period for the phases 0 and 5. */
const TICK = new Date("2026-02-03T10:00:00Z");
const seconds = (at: Date) => at.getTime() / 1000;
const later = (by: number) => new Date(TICK.getTime() + by * 1000);

test("a tick makes the thirty beats of the five minutes after its own, each with the delay that is left", () => {
  const slots = slotsOf(TICK, 5, later(3.5));

  expect(slots).toHaveLength(30);
  expect(slots.slice(0, 3).map(({ slot }) => slot - seconds(TICK))).toEqual([305, 315, 325]);
  expect(slots.slice(0, 3).map(({ delaySeconds }) => delaySeconds)).toEqual([302, 312, 322]);
  expect(slots.at(-1)).toEqual({ slot: seconds(TICK) + 595, delaySeconds: 592 });
});

test.each([
  [0, 0],
  [1, 1],
  [4, 4],
  [5, 0],
  [9, 4],
])("workspaces of phase %i have their ticks in minute %i of five", (phase, minute) => {
  expect(firstMinuteOf(phase)).toBe(minute);
  expect(periodAt(later(299 + minute * 60), phase)).toBe(seconds(TICK) + minute * 60);
});

test("a tick that comes later makes the beats that can still be kept, and after ten minutes or in another minute none", () => {
  expect(slotsOf(TICK, 0, later(400)).map(({ slot }) => slot - seconds(TICK))[0]).toBe(390); // ten seconds late
  expect(slotsOf(TICK, 0, later(620))).toEqual([]);
  expect([59, 60, 120, 299].map((after) => slotsOf(later(after), 0, TICK).length)).toEqual([30, 0, 0, 0]);
});

test("slots between two times are those of the phase, and each has its delay", () => {
  expect(slotsUntil(seconds(TICK) + 30, later(4), 3, TICK)).toEqual([
    { slot: seconds(TICK) + 13, delaySeconds: 13 },
    { slot: seconds(TICK) + 23, delaySeconds: 23 },
  ]);
  expect(slotsUntil(seconds(TICK), later(4), 3, TICK)).toEqual([]);
});
