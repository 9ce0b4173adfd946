import { expect, test } from "vitest";
import { refusalOf } from "../../../lib/model/change/refusal.ts";
import type { TableShape } from "../../../lib/model/mapping/shape.ts";
import { changedSince, stampsSince } from "../../../lib/model/mapping/soql.ts";
import {
  firstPart,
  grown,
  halved,
  joined,
  type ReadSize,
  smaller,
  WHOLE,
} from "../../../lib/model/record/read-size.ts";
import { contactShape } from "../../support/worlds/shapes.ts";

const TOO_LONG = refusalOf(400, "QUERY_TIMEOUT", "Your query request was running for too long.");
const NO_ANSWER = { ...TOO_LONG, code: "TIMEOUT" };
const TOO_COMPLICATED = refusalOf(400, "QUERY_TOO_COMPLICATED", "Query is either selecting too many fields …");

function sizesOf(refusal: typeof TOO_LONG): (readonly [number, number])[] {
  const sizes: (readonly [number, number])[] = [];
  for (let size: ReadSize | null = WHOLE; size; size = smaller(size, refusal, 2_000, 0))
    sizes.push([size.rows, size.fields]);
  return sizes;
}

test.each([
  ["answered that it took too long", TOO_LONG],
  ["was not answered in time", NO_ANSWER],
])("a read that %s is asked for in half as many records each time, then with half of the fields", (_, refusal) => {
  const sizes = sizesOf(refusal);

  expect(sizes.slice(0, 3)).toEqual([
    [0, 0],
    [1, 0],
    [2, 0],
  ]);
  expect(sizes[9]).toEqual([8, 1]);
  expect(sizes.at(-1)).toEqual([8, 8]);
  expect(sizes.map(([rows]) => halved(2_000, { rows, fields: 0, since: 0 })).at(-1)).toBe(10);
});

test("a read that is too complicated is halved alternately by records and by fields, for either may be the reason", () => {
  expect(sizesOf(TOO_COMPLICATED).slice(0, 5)).toEqual([
    [0, 0],
    [1, 0],
    [1, 1],
    [2, 1],
    [2, 2],
  ]);
});

test("a read that is too large for our user is halved by records alone, to the fewest", () => {
  const sizes = sizesOf(refusalOf(400, "OPERATION_TOO_LARGE", "exceeded 100000 distinct who/what's"));

  expect(sizes[1]).toEqual([1, 0]);
  expect(sizes.at(-1)).toEqual([8, 0]);
});

test("no other error makes reads smaller", () => {
  expect(smaller(WHOLE, refusalOf(400, "INVALID_FIELD", "No such column"), 50, 0)).toBeNull();
  expect(smaller(WHOLE, refusalOf(503, "SERVER_UNAVAILABLE", "down"), 50, 0)).toBeNull();
});

test("a read grows again a quarter of an hour after it was halved, fields first, a step each time", () => {
  const small: ReadSize = { rows: 2, fields: 1, since: 0 };
  const quarter = 15 * 60_000;

  expect(grown(small, quarter - 1)).toBe(small);
  const next = grown(small, quarter);
  expect(next).toEqual({ rows: 2, fields: 0, since: quarter });
  expect(grown(next, quarter + 1)).toBe(next);
  expect(grown(next, 2 * quarter)).toEqual({ rows: 1, fields: 0, since: 2 * quarter });
  expect(grown(WHOLE, 9 * quarter)).toBe(WHOLE);
});

test("the parts of a query are all of its fields, and one that asks for none of them is not cut", () => {
  const shape: TableShape = contactShape();
  const size = { rows: 0, fields: 1, since: 0 };

  const { asked, others } = firstPart(size, shape, (part) => changedSince(part, new Date(0)));
  const stamps = firstPart(size, shape, (part) => stampsSince(part, new Date(0), null));

  expect(others.length).toBe(1);
  const fields = shape.columns.map(({ field }) => field);
  const later = others.flatMap(({ columns }) => columns.map(({ field }) => field));
  expect(
    [
      ...fields.filter((field) => asked.soql.includes(` ${field},`) || asked.soql.includes(` ${field} `)),
      ...later,
    ].sort(),
  ).toEqual([...fields].sort());
  expect(stamps.others).toEqual([]);
});

test("a parent whose fields came in two parts has all of them", () => {
  const one = { Id: "1", Account: { Name: "A" }, LastName: "B" };

  expect(joined(one, { Id: "1", Account: { Key__c: "K" }, Email: null })).toEqual({
    Id: "1",
    Account: { Name: "A", Key__c: "K" },
    LastName: "B",
    Email: null,
  });
  expect(joined({ Account: null }, { Account: null })).toEqual({ Account: null });
});
