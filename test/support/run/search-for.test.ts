import { expect, test } from "vitest";
import { createDice } from "../doubles/dice.ts";
import { searchFor } from "./search-for.ts";

test("finds any of many texts wherever it begins, and nothing where only a part of one is", () => {
  const dice = createDice(58);
  const word = (length: number) => Array.from({ length }, () => dice.pick([..."abc\u00ff\u20ac"])).join("");
  const found = Array.from({ length: 1_000 }, () => {
    const sought = Array.from({ length: dice.below(6) }, () => word(dice.pick([1, 3, 4, 5, 5, 6]) ?? 5));
    const text = word(dice.below(40));
    const isThere = sought.some((one) => text.includes(one));
    expect(searchFor(sought)(text), JSON.stringify({ sought, text })).toBe(isThere);
    return isThere;
  });

  expect(found).toContain(true);
  expect(found).toContain(false);
});
