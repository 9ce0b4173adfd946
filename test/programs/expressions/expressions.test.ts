import { expect, test } from "vitest";
import { longTest } from "../../support/run/whole-grid.ts";
import { expressionsIn, findExpressions } from "./find-expressions.ts";
import { hashOf, judge } from "./judge-expression.ts";
import verdicts from "./verdicts.json" with { type: "json" };

test("an expression that backtracks is found, and one that reads each letter once is linear", async () => {
  const [backtracking, linear] = expressionsIn(
    "here.ts",
    String.raw`text.match(/\s*--\s*$/) ?? text.match(/^<\?xml/i)`,
  );

  expect(backtracking && (await judge(backtracking))).toMatch(/polynomial/);
  expect(linear && (await judge(linear))).toBe("linear");
});

test("an expression is found wherever it is written, and however it is built", () => {
  const code = `const a = /a+/g;\nconst b = <T,>(x: T) => new RegExp("b*", "i");\nRegExp(\`c?\`);\nnew RegExp(\`d\${a}\`);`;

  expect(expressionsIn("here.ts", code).map(({ text, place, isWhole }) => [place, text, isWhole])).toEqual([
    ["here.ts:1", "/a+/g", true],
    ["here.ts:2", "/b*/i", true],
    ["here.ts:3", "/c?/", true],
    ["here.ts:4", "new RegExp(`d$" + "{a}`)", false],
  ]);
});

longTest("every expression of the product has a verdict", () => {
  const known: Readonly<Record<string, string>> = verdicts.verdicts;

  expect(findExpressions().filter((expression) => !(hashOf(expression) in known))).toEqual([]);
});
