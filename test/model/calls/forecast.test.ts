import { expect, test } from "vitest";
import { DAILY_CALLS, idleCalls, idleCallsPerDay } from "../../../lib/model/calls/forecast.ts";

const asking = (many: number, everySeconds = 10, queries = 1) =>
  Array.from({ length: many }, () => ({ everySeconds, queries }));

test.each([
  [asking(1), 8_640],
  [asking(5), 8_640],
  [asking(6), 17_280],
  [asking(50), 86_400],
  [asking(5, 60), 1_440],
  [asking(5, 300), 288],
  [asking(3, 10, 2), 17_280],
  // Those of a minute travel with those of ten seconds: only every sixth beat needs a second call.
  [[...asking(3), ...asking(4, 60)], 8_640 + 1_440],
  [[...asking(3), ...asking(2, 60)], 8_640],
  [asking(5, 21.5), 4_018],
  [[], 0],
])("mappings share calls by fives, whatever their intervals (%#)", (mappings, calls) => {
  expect(idleCallsPerDay(mappings)).toBe(calls + DAILY_CALLS * mappings.length);
});

test("the calls of each mapping add up to the forecast of all", () => {
  const mappings = [...asking(7), ...asking(4, 60, 2), ...asking(1, 97)];

  const parts = idleCalls(mappings);

  expect(parts.reduce((sum, calls) => sum + calls, 0)).toBe(idleCallsPerDay(mappings));
  expect(parts.every(Number.isInteger)).toBe(true);
});
