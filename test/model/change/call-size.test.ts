import { expect, test } from "vitest";
import { CallSize, sizeNow } from "../../../lib/model/change/call-size.ts";

const AT = new Date("2026-03-01T12:00:00Z");
const later = (minutes: number) => new Date(AT.getTime() + minutes * 60_000);

test("a found limit holds for an hour, doubles with each, and never passes what the mapping asks for", () => {
  const learned = { size: 30, at: AT };

  expect([-5, 0, 59, 60, 120, 180, 100_000].map((minutes) => sizeNow(150, learned, later(minutes)))).toEqual([
    30, 30, 30, 60, 120, 150, 150,
  ]);
  expect(sizeNow(20, learned, AT)).toBe(20);
  expect(sizeNow(200, null, AT)).toBe(200);
});

test("the results of one job, however many thousand, halve once", () => {
  const size = new CallSize();

  expect([size.halve(2_500), size.halve(2_500), size.size]).toEqual([true, true, 100]);
});

test("a record that exceeds a limit alone leaves nothing to keep, and the calls grow again with what is accepted", () => {
  const size = new CallSize(40);
  for (const records of [40, 20, 10, 5, 3, 2]) expect(size.halve(records)).toBe(true);
  expect([size.size, size.learned]).toEqual([1, 1]);

  expect(size.halve(1)).toBe(false);

  expect(size.learned).toBe(null);
  for (let calls = 0; calls < 6; calls += 1) size.accept();
  expect(size.size).toBe(40);
  for (let alone = 0; alone < 3; alone += 1) expect([size.halve(1), size.accept()]).toEqual([false, undefined]);
  expect([size.halve(40), size.size]).toEqual([true, 20]);
});
