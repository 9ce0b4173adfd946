import type { FunctionExp, Query } from "@jetstreamapp/soql-parser-js";
import { normalizeId } from "../ids.ts";
import { type Field, isNumeric } from "../metadata/field.ts";
import { traitsOf } from "../metadata/field-type.ts";
import { Refusal } from "../refusal.ts";
import type { Stored } from "../store/database.ts";
import { ignoresCase } from "../store/schema.ts";
import { spanOf, storedDateTime, unquoted } from "./literals.ts";
import type { Condition, Test } from "./parse-soql.ts";
import type { Column } from "./query-scope.ts";

/** What turning conditions into SQL needs to know of the query around them. */
export interface Surroundings {
  readonly now: Date;
  column(path: string): Column;
  call(expression: FunctionExp): Column;
  /** The SELECT of a semi-join and the values of its placeholders. */
  subquery(query: Query): { readonly sql: string; readonly values: readonly Stored[] };
}

/** SQL for a condition, with its values in the order of their placeholders; each part is true or false, never NULL. */
export class ConditionSql {
  readonly values: Stored[] = [];
  readonly #around: Surroundings;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  of(condition: Condition): string {
    switch (condition.kind) {
      case "not":
        return `NOT coalesce(${this.of(condition.part)}, 0)`;
      case "and":
        return condition.parts.map((part) => `(${this.of(part)})`).join(" AND ");
      case "or":
        return this.#keyset(condition.parts) ?? condition.parts.map((part) => `(${this.of(part)})`).join(" OR ");
      case "test":
        return this.#test(condition);
    }
  }

  /** `(a = x AND b > y) OR a > x`, the keyset of a paged read, as one comparison that an index can follow. */
  #keyset(parts: readonly Condition[]): string | null {
    const [first, second] = parts[0]?.kind === "and" ? parts : [parts[1], parts[0]];
    if (parts.length !== 2 || first?.kind !== "and" || second?.kind !== "test") return null;
    const [same, after] = first.parts;
    if (first.parts.length !== 2 || same?.kind !== "test" || after?.kind !== "test") return null;
    const isKeyset =
      same.operator === "=" &&
      after.operator === ">" &&
      second.operator === ">" &&
      same.field !== null &&
      after.field !== null;
    if (
      !isKeyset ||
      same.field?.toLowerCase() !== second.field?.toLowerCase() ||
      same.value !== second.value ||
      Array.isArray(same.value)
    )
      return null;
    const [outer, inner] = [this.#around.column(String(same.field)), this.#around.column(String(after.field))];
    if (same.literalType !== "DATETIME" || inner.field.type !== "id") return null;
    this.values.push(
      this.#value(outer.field, String(same.value), same.literalType),
      this.#value(inner.field, String(after.value), "STRING"),
    );
    return `(${outer.sql}, ${inner.sql}) > (?, ?)`;
  }

  #test(test: Test): string {
    const column = test.call ? this.#around.call(test.call) : this.#around.column(test.field ?? "");
    const { field } = column;
    if (!field.filterable)
      throw new Refusal("INVALID_FIELD", `field '${field.name}' can not be filtered in a query call`);
    if (test.subquery) return this.#semiJoin(column.sql, test.operator, test.subquery);
    if (test.operator === "INCLUDES" || test.operator === "EXCLUDES") return this.#includes(column, test);
    const takesList = test.operator === "IN" || test.operator === "NOT IN";
    if (takesList !== Array.isArray(test.value))
      throw new Refusal("MALFORMED_QUERY", `unexpected token: '${test.operator}'`);
    if (takesList) return this.#inList(column, test);
    return this.#compare(column, test.operator, String(test.value), literalTypeAt(test, 0));
  }

  #semiJoin(sql: string, operator: string, query: Query): string {
    const inner = this.#around.subquery(query);
    this.values.push(...inner.values);
    return operator === "IN" ? `${sql} IN (${inner.sql})` : `(${sql} IS NOT NULL AND ${sql} NOT IN (${inner.sql}))`;
  }

  /** Each entry is a set of values that must all be chosen. */
  #includes({ field, sql }: Column, test: Test): string {
    if (field.type !== "multipicklist") throw wrongOperator(field, test.operator);
    const entries = (Array.isArray(test.value) ? test.value : [test.value]).map((literal) => {
      const wanted = unquoted(String(literal)).split(";");
      this.values.push(...wanted);
      return wanted.map(() => `instr(';' || ${sql} || ';', ';' || ? || ';') > 0`).join(" AND ");
    });
    const any = entries.map((entry) => `(${entry})`).join(" OR ");
    return test.operator === "INCLUDES" ? `coalesce(${any}, 0)` : `NOT coalesce(${any}, 0)`;
  }

  #inList({ field, sql }: Column, test: Test): string {
    const literals = Array.isArray(test.value) ? test.value.map(String) : [String(test.value)];
    const values = literals.map((literal, index) => this.#value(field, literal, literalTypeAt(test, index)));
    const present = values.filter((value) => value !== null);
    const folds = ignoresCase(field) && present.some((value) => !isAscii(value));
    this.values.push(...(folds ? present.map(folded) : present));
    const list = `${folds ? `fold(${sql})` : sql} IN (${present.map(() => "?").join(", ")})`;
    const isIn = present.length < values.length ? `(${list} OR ${sql} IS NULL)` : list;
    if (test.operator === "IN") return isIn;
    return present.length < values.length ? `NOT coalesce(${isIn}, 0)` : `(${sql} IS NULL OR NOT (${isIn}))`;
  }

  #compare({ field, sql }: Column, operator: string, literal: string, type: string): string {
    if (type === "DATE_LITERAL" || type === "DATE_N_LITERAL") return this.#inSpan(field, sql, operator, literal);
    if (operator === "LIKE") return this.#like(field, sql, literal);
    const value = this.#value(field, literal, type);
    if (value === null) return this.#compareNothing(field, sql, operator);
    if (operator !== "=" && operator !== "!=" && (field.type === "boolean" || field.type === "multipicklist"))
      throw wrongOperator(field, operator);
    const folds = ignoresCase(field) && !isAscii(value);
    this.values.push(folds ? folded(value) : value);
    const left = folds ? `fold(${sql})` : sql;
    if (operator === "!=") return `${left} IS NOT ?`;
    return `${left} ${operator} ?`;
  }

  #compareNothing(field: Field, sql: string, operator: string): string {
    if (operator === "=") return field.type === "boolean" ? `${sql} = 0` : `${sql} IS NULL`;
    if (operator === "!=") return field.type === "boolean" ? `${sql} = 1` : `${sql} IS NOT NULL`;
    return "0";
  }

  #like(field: Field, sql: string, literal: string): string {
    if (!ignoresCase(field) && !field.caseSensitive) throw wrongOperator(field, "LIKE");
    const inner = literal.replace(/^'|'$/g, "");
    // A backslash before % or _ stays: it is LIKE's own escape.
    const pattern = unquoted(inner.replace(/\\([%_])/g, "\\\\$1"));
    const folds = !isAscii(pattern);
    this.values.push(folds ? String(folded(pattern)) : pattern);
    return `${folds ? `fold(${sql})` : sql} LIKE ? ESCAPE '\\'`;
  }

  #inSpan(field: Field, sql: string, operator: string, literal: string): string {
    if (field.type !== "date" && field.type !== "datetime") throw wrongType(field);
    const { from, until } = spanOf(literal, this.#around.now);
    const edge = (day: string) => (field.type === "datetime" ? `${day}T00:00:00.000Z` : day);
    const bounds: Record<string, [string, string[]]> = {
      "=": [`(${sql} >= ? AND ${sql} < ?)`, [edge(from), edge(until)]],
      "!=": [`(${sql} IS NULL OR ${sql} < ? OR ${sql} >= ?)`, [edge(from), edge(until)]],
      "<": [`${sql} < ?`, [edge(from)]],
      "<=": [`${sql} < ?`, [edge(until)]],
      ">": [`${sql} >= ?`, [edge(until)]],
      ">=": [`${sql} >= ?`, [edge(from)]],
    };
    const [text, values] = bounds[operator] ?? ["0", []];
    this.values.push(...values);
    return text;
  }

  #value(field: Field, literal: string, type: string): Stored {
    if (type === "NULL" || /^null$/i.test(literal)) return null;
    if (type === "STRING") return this.#stringValue(field, unquoted(literal));
    if (type === "BOOLEAN") {
      if (field.type !== "boolean") throw wrongType(field);
      return /^true$/i.test(literal) ? 1 : 0;
    }
    if (type === "DATETIME") {
      if (field.type !== "datetime") throw wrongType(field);
      return storedDateTime(literal);
    }
    if (type === "DATE") {
      if (field.type !== "date") throw wrongType(field);
      return literal;
    }
    if (!isNumeric(field)) throw wrongType(field);
    return Number(literal.replace(/^[A-Za-z]{3}/, ""));
  }

  #stringValue(field: Field, text: string): Stored {
    if (field.type === "time") return text;
    if (field.type === "boolean" || isNumeric(field) || field.type === "date" || field.type === "datetime")
      throw wrongType(field);
    if (text === "") return null;
    if (field.type !== "id" && field.type !== "reference") return text;
    const id = normalizeId(text);
    if (id === null) throw new Refusal("INVALID_QUERY_FILTER_OPERATOR", `invalid ID field: ${text}`);
    return id;
  }
}

function literalTypeAt(test: Test, index: number): string {
  const { literalType } = test;
  return (typeof literalType === "string" ? literalType : literalType?.[index]) ?? "STRING";
}

function isAscii(value: Stored): boolean {
  return typeof value !== "string" || !/[^\u0020-\u007e\s]/.test(value);
}

/** Text without regard to case, in every script; the same function is known to SQL as `fold`. */
export function folded(value: Stored): Stored {
  return typeof value === "string" ? value.toLowerCase() : value;
}

function wrongType(field: Field): Refusal {
  const name = { datetime: "dateTime", reference: "ID", id: "ID" }[field.type as string] ?? field.type;
  const quotes = traitsOf(field.type).isQuoted ? "should be" : "should not be";
  return new Refusal(
    "INVALID_FIELD",
    `value of filter criterion for field '${field.name}' must be of type ${name} and ${quotes} enclosed in quotes`,
  );
}

function wrongOperator(field: Field, operator: string): Refusal {
  return new Refusal("INVALID_QUERY_FILTER_OPERATOR", `invalid operator on ${field.type} field: ${operator}`);
}
