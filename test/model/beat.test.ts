import fc from "fast-check";
import { expect, test } from "vitest";
import { firstSlots, phaseOf, slotsOf } from "../../lib/model/beat.ts";

const TICK = new Date("2026-02-03T10:00:00Z");
const seconds = (at: Date) => at.getTime() / 1000;

test("a tick makes the six beats of a minute that begins 170 seconds after it, each with the delay that is left", () => {
  const late = new Date(TICK.getTime() + 3_500);

  const slots = slotsOf(TICK, 4, late);

  expect(slots.map(({ slot }) => slot - seconds(TICK))).toEqual([174, 184, 194, 204, 214, 224]);
  expect(slots.map(({ delaySeconds }) => delaySeconds)).toEqual([171, 181, 191, 201, 211, 221]);
});

test("however late its schedule fires and the fan-out gathers, no beat of a tick is late", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 59 }), fc.integer({ min: 0, max: 105 }), (into, late) => {
      const tick = new Date(TICK.getTime() + into * 1000);
      const now = new Date(tick.getTime() + late * 1000);

      const slots = slotsOf(tick, 0, now);

      expect(slots).toHaveLength(6);
      expect(slots.every(({ slot }) => slot >= seconds(now))).toBe(true);
    }),
  );
});

test("a tick that comes minutes late makes no beats of the past", () => {
  expect(slotsOf(TICK, 0, new Date(TICK.getTime() + 300_000))).toEqual([]);
});

test("ticks that are late or doubled name the same slots, so that none runs twice and none is left out", () => {
  const ticks = Array.from({ length: 5 }, (_, minute) => new Date(TICK.getTime() + minute * 60_000 + 7_000));

  const slots = ticks.flatMap((tick) => slotsOf(tick, 3, tick).map(({ slot }) => slot));
  const doubled = ticks.flatMap((tick) => slotsOf(tick, 3, new Date(tick.getTime() + 20_000)).map(({ slot }) => slot));

  expect(slots.every((slot, index) => index === 0 || slot - (slots[index - 1] ?? 0) === 10)).toBe(true);
  expect(doubled).toEqual(slots);
});

test("a mapping that becomes active beats at once, until its first tick's minute", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 59_999 }), fc.integer({ min: 0, max: 9 }), (into, phase) => {
      const now = new Date(TICK.getTime() + into);
      const firstTick = new Date(Math.floor(now.getTime() / 60_000) * 60_000 + 60_000);

      const slots = firstSlots(phase, now).map(({ slot }) => slot);
      const next = slotsOf(firstTick, phase, now)[0]?.slot ?? 0;

      expect((slots[0] ?? Number.POSITIVE_INFINITY) - seconds(now)).toBeLessThanOrEqual(10);
      expect([...slots, next].every((slot, index, all) => index === 0 || slot - (all[index - 1] ?? 0) === 10)).toBe(
        true,
      );
    }),
  );
});

test("workspaces are spread over the ten seconds, each always at the same offset", () => {
  const phases = Array.from({ length: 1_000 }, (_, index) => phaseOf(`ws_${index}abc`));

  expect(new Set(phases).size).toBe(10);
  expect(phaseOf("ws_7abc")).toBe(phases[7]);
});
