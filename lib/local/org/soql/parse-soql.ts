import { createRequire } from "node:module";
import type { FunctionExp, HavingClause, LiteralType, Query, WhereClause } from "@jetstreamapp/soql-parser-js";
import { Refusal } from "../refusal.ts";
import { queryRefusal } from "./soql-errors.ts";

type Parser = typeof import("@jetstreamapp/soql-parser-js");

let parser: Parser | undefined;

/** Loads the parser, which takes longer than starting the org; called before it is first needed. */
export function loadParser(): Parser {
  parser ??= createRequire(import.meta.url)("@jetstreamapp/soql-parser-js") as Parser;
  return parser;
}

/** SOQL as a tree, or MALFORMED_QUERY. */
export function parseSoql(soql: string): Query {
  if (soql.length > 100_000)
    throw new Refusal("QUERY_TOO_COMPLICATED", "SOQL statements cannot be longer than 100000 characters.");
  try {
    return loadParser().parseQuery(soql);
  } catch (error) {
    throw malformed(soql, error instanceof Error ? error.message : String(error));
  }
}

function malformed(soql: string, complaint: string): Refusal {
  const found = /but found(?: -->|:) '([^']*)'/.exec(complaint)?.[1];
  if (!found) return new Refusal("MALFORMED_QUERY", "unexpected token: <EOF>");
  return queryRefusal("MALFORMED_QUERY", soql, found, `unexpected token: '${found}'`);
}

/** One comparison of a WHERE or HAVING clause, as the parser gives it. */
export interface Test {
  readonly kind: "test";
  readonly field: string | null;
  readonly call: FunctionExp | null;
  readonly operator: string;
  readonly value: string | readonly string[];
  readonly literalType: LiteralType | readonly LiteralType[] | undefined;
  readonly subquery: Query | null;
}

/** A WHERE clause as a tree. */
export type Condition =
  | Test
  | { readonly kind: "and" | "or"; readonly parts: readonly Condition[] }
  | { readonly kind: "not"; readonly part: Condition };

type Token = "(" | ")" | "AND" | "OR" | "NOT" | Test;

/** Builds the tree from the parser's list of conditions; refuses AND and OR mixed without parentheses, as Salesforce does. */
export function conditionTree(soql: string, clause: WhereClause | HavingClause): Condition {
  const tokens = tokensOf(clause);
  let at = 0;

  function sequence(): Condition {
    const parts = [unary()];
    let joint: Token | undefined;
    for (let next = tokens[at]; next === "AND" || next === "OR"; next = tokens[at]) {
      if (joint !== undefined && joint !== next)
        throw queryRefusal("MALFORMED_QUERY", soql, next, `unexpected token: ${next}`);
      joint = next;
      at++;
      parts.push(unary());
    }
    const [only] = parts;
    return joint === undefined && only ? only : { kind: joint === "OR" ? "or" : "and", parts };
  }

  function unary(): Condition {
    const token = tokens[at++];
    if (token === "NOT") return { kind: "not", part: unary() };
    if (token === "(") {
      const inner = sequence();
      at++;
      return inner;
    }
    if (typeof token === "object") return token;
    throw new Refusal("MALFORMED_QUERY", `unexpected token: ${token ?? "<EOF>"}`);
  }

  return sequence();
}

/** The parser's nodes, with every property that some kind of them has. */
interface Node {
  readonly left?:
    | (Partial<Record<"openParen" | "closeParen", number>> & {
        readonly field?: string;
        readonly fn?: FunctionExp;
        readonly operator?: string;
        readonly value?: string | string[];
        readonly literalType?: LiteralType | LiteralType[];
        readonly valueQuery?: Query;
      })
    | null;
  readonly operator?: "AND" | "OR" | "NOT";
  readonly right?: Node;
}

function tokensOf(clause: WhereClause | HavingClause): Token[] {
  const tokens: Token[] = [];
  for (let node: Node | undefined = clause as Node; node; node = node.right) {
    const { left, operator } = node;
    for (let count = left?.openParen ?? 0; count > 0; count--) tokens.push("(");
    if (left?.operator !== undefined) {
      tokens.push({
        kind: "test",
        field: left.field ?? null,
        call: left.fn ?? null,
        operator: left.operator,
        value: left.value ?? [],
        literalType: left.literalType,
        subquery: left.valueQuery ?? null,
      });
    }
    for (let count = left?.closeParen ?? 0; count > 0; count--) tokens.push(")");
    if (operator !== undefined) tokens.push(operator);
  }
  return tokens;
}

/** The parser gives a single clause as itself and several as a list. */
export function arrayOf<T>(value: T | T[] | undefined): T[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
