import { expect, test } from "vitest";
import { refusalOf } from "../../../lib/model/change/refusal.ts";
import { grown, halved, type ReadSize, smaller, WHOLE } from "../../../lib/model/record/read-size.ts";

const PAGES = [2_000, 1_000, 500, 250, 125, 62, 31, 15, 10];

test.each([
  ["answered that it took too long", "QUERY_TIMEOUT", PAGES],
  ["was not answered in time", "TIMEOUT", PAGES],
  ["is too large for our user", "OPERATION_TOO_LARGE", PAGES],
  ["was answered with too much", "TOO_LARGE", [...PAGES, 3]],
])("a read that %s is asked for in half as many records each time", (_, code, pages) => {
  const asked: number[] = [];
  for (let size: ReadSize | null = WHOLE; size; size = smaller(size, { code }, 2_000, 0))
    asked.push(halved(2_000, size));

  expect(asked).toEqual(pages);
});

test("no other error makes reads smaller", () => {
  expect(smaller(WHOLE, refusalOf(400, "INVALID_FIELD", "No such column"), 50, 0)).toBeNull();
  expect(smaller(WHOLE, refusalOf(503, "SERVER_UNAVAILABLE", "down"), 50, 0)).toBeNull();
});

test("a read grows again a quarter of an hour after it was halved, a step each time", () => {
  const small: ReadSize = { rows: 2, fields: 0, since: 0 };
  const quarter = 15 * 60_000;

  expect(grown(small, quarter - 1)).toBe(small);
  const next = grown(small, quarter);
  expect(next).toEqual({ rows: 1, fields: 0, since: quarter });
  expect(grown(next, quarter + 1)).toBe(next);
  expect(grown(next, 2 * quarter)).toEqual({ rows: 0, fields: 0, since: 2 * quarter });
  expect(grown(WHOLE, 9 * quarter)).toBe(WHOLE);
});
