import { expect, test } from "vitest";
import { firstInGate } from "../../support/run/whole-grid.ts";
import { expressionsIn, findExpressions } from "./find-expressions.ts";
import { hashOf, judge } from "./judge-expression.ts";
import verdicts from "./verdicts.json" with { type: "json" };

/** As it was written for the answers of orgs, and what each does to it. */
const BACKTRACKING = [
  String.raw`/\/+$/`,
  String.raw`/\s*--\s*$/`,
  String.raw`/<title[^>]*>([\s\S]*?)<\/title>/i`,
  String.raw`/<faultstring>([\s\S]*?)<\/faultstring>/`,
  String.raw`/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g`,
  String.raw`/^\uFEFF?\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)*<(?:!doctype\s+html|html)\b/i`,
];

test.each(firstInGate(3, BACKTRACKING))("an expression that backtracks is found: %s", async (text) => {
  const [expression] = expressionsIn("here.ts", `const found: RegExp = ${text};`);

  expect(expression?.text).toBe(text);
  expect(expression && (await judge(expression))).toMatch(/exponential|polynomial/);
});

const LINEAR = [String.raw`/"(?:[^"\\]|\\.)*"?|[[\]{}]/gs`, String.raw`/^<\?xml/i`, String.raw`/(?<!\/)\/+$/`];

test.each(firstInGate(2, LINEAR))("one that reads each letter once is linear: %s", async (text) => {
  const [expression] = expressionsIn("here.ts", `text.match(${text})`);

  expect(expression && (await judge(expression))).toBe("linear");
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

test("every expression of the product has a verdict", () => {
  const known: Readonly<Record<string, string>> = verdicts.verdicts;

  expect(findExpressions().filter((expression) => !(hashOf(expression) in known))).toEqual([]);
});
