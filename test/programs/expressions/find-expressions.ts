import { globSync, readFileSync } from "node:fs";
import { type Node, parseSync, Visitor } from "oxc-parser";

/** A regular expression of the project's code. */
export interface Expression {
  /** As it is written, `/a+/i`; of one that is built of parts the call that makes it. */
  readonly text: string;
  readonly source: string;
  readonly flags: string;
  /** False: its parts are known only when it runs. */
  readonly isWhole: boolean;
  /** `lib/http/body.ts:67`. */
  readonly place: string;
}

/** Every regular expression of what the product runs, in the order of its places. */
export const findExpressions = (): readonly Expression[] =>
  globSync(["bin/**", "functions/**", "lib/**"].map((files) => `${files}/*.{ts,tsx,mjs,cjs,js}`))
    .filter((file) => !file.includes("node_modules"))
    .sort()
    .flatMap((file) => expressionsIn(file, readFileSync(file, "utf8")));

/** Those of one file: literals, and calls of RegExp. */
export function expressionsIn(file: string, code: string): readonly Expression[] {
  const { program, errors } = parseSync(file, code);
  if (errors[0]) throw new Error(`${file} cannot be read: ${errors[0].message}`);
  const found: Expression[] = [];
  const add = (start: number, expression: Omit<Expression, "place">) =>
    found.push({ ...expression, place: `${file}:${code.slice(0, start).split("\n").length}` });
  const addCall = ({ start, end, callee, arguments: given }: Call) => {
    if (callee.type !== "Identifier" || callee.name !== "RegExp") return;
    const [source, flags = ""] = given.map(stringOf);
    const isWhole = typeof source === "string" && typeof flags === "string";
    const text = isWhole ? `/${source}/${flags}` : code.slice(start, end);
    add(start, { text, source: source ?? "", flags: flags ?? "", isWhole });
  };
  new Visitor({
    Literal: (node) => {
      if (!("regex" in node)) return;
      const { pattern, flags } = node.regex;
      add(node.start, { text: `/${pattern}/${flags}`, source: pattern, flags, isWhole: true });
    },
    CallExpression: addCall,
    NewExpression: addCall,
  }).visit(program);
  return found;
}

type Call = Extract<Node, { type: "CallExpression" | "NewExpression" }>;

/** Null: it is known only when it runs. */
function stringOf(node: Node): string | null {
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  if (node.type !== "TemplateLiteral" || node.expressions.length > 0) return null;
  return node.quasis[0]?.value.cooked ?? null;
}
