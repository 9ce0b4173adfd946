import { expect, test } from "vitest";
import { named } from "../../../../lib/adapters/postgres/session/named.ts";

test("each name gets one number, in the order in which names come up, and only values that are named are sent", () => {
  const statement = "UPDATE t SET a = :now::timestamptz, b = :retryAt WHERE fence = :fence AND c < :now AND d = :c10";

  expect(named(statement, { fence: 7, c1: 1, c10: 10, retryAt: null, now: "today" })).toEqual([
    "UPDATE t SET a = $1::timestamptz, b = $2 WHERE fence = $3 AND c < $1 AND d = $4",
    ["today", null, 7, 10],
  ]);
});

test.each([
  "x::text",
  "ids[1:2]",
  "'a :fence and it''s :fence'",
  " E'\\\\ '' :fence'",
  `"a :fence "" :fence"`,
  "x -- it's :fence",
  "$1",
])("texts, names in quotes, comments and casts stay: %s", (text) => {
  expect(named(text, { fence: 7 })).toEqual([text, []]);
});

test("what comes after a text or a comment is read", () => {
  expect(named("a = 'x''' AND :fence -- don't\nAND :fence", { fence: 7 })).toEqual([
    "a = 'x''' AND $1 -- don't\nAND $1",
    [7],
  ]);
});

test("a list of values and its statement stay as they are", () => {
  expect(named("a = $1 AND b = :b", [1])).toEqual(["a = $1 AND b = :b", [1]]);
});

test.each(["fences", "toString", "constructor"])("a name without a value is refused: %s", (name) => {
  expect(() => named(`a = :${name}`, { fence: 7 })).toThrow(`no value has the name :${name}`);
});
