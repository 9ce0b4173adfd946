import { Failure } from "../failure.ts";
import { traitsOf, type ValueKind } from "./field-type.ts";

/**
 * A mapping's filter: the part of SOQL's conditions that compares a field of the object with values, joined by AND, OR,
 * NOT and parentheses. It is parsed and written again, so that nothing but what is understood ever becomes part of a
 * query.
 */
export type Filter =
  | { readonly kind: "and" | "or"; readonly parts: readonly Filter[] }
  | { readonly kind: "not"; readonly part: Filter }
  | {
      readonly kind: "comparison";
      readonly field: string;
      readonly operator: string;
      readonly values: readonly string[];
    };

/** Parses a filter; refuses what it does not understand, with the place. */
export function parseFilter(text: string): Filter {
  const reader = new Reader(text);
  const filter = readOr(reader, 0);
  reader.end();
  return filter;
}

/** The names of the fields that a filter compares. */
export function fieldsIn(filter: Filter): readonly string[] {
  if (filter.kind === "comparison") return [filter.field];
  return filter.kind === "not" ? fieldsIn(filter.part) : filter.parts.flatMap(fieldsIn);
}

/** What a filter must know of a field. */
interface Filterable {
  readonly name: string;
  readonly type: string;
  readonly filterable: boolean;
}

/**
 * The condition as SOQL has it, checked against what the org says about the object's fields, by their lower-case names:
 * each is there, can be filtered by, and is compared with a value of its own kind.
 */
export function renderFilter(filter: Filter, fields: ReadonlyMap<string, Filterable>): string {
  if (filter.kind === "not") return `(NOT ${renderFilter(filter.part, fields)})`;
  if (filter.kind !== "comparison") {
    return `(${filter.parts.map((part) => renderFilter(part, fields)).join(` ${filter.kind.toUpperCase()} `)})`;
  }
  const field = fields.get(filter.field.toLowerCase());
  if (!field) {
    throw refused(`there is no field ${filter.field}, or our user may not see it; name another, or grant it`);
  }
  if (!field.filterable) throw refused(`${field.name} cannot be filtered by; choose another field`);
  refuseMismatch(field, filter.operator, filter.values);
  const isSet = SET_OPERATORS.has(filter.operator);
  const values = isSet ? `(${filter.values.join(", ")})` : filter.values[0];
  return `${field.name} ${filter.operator} ${values}`;
}

/** How the values of a field are written in SOQL. */
const WRITTEN_AS: Readonly<Record<ValueKind, Literal>> = {
  text: "a text in single quotes",
  choices: "a text in single quotes",
  number: "a number",
  boolean: "TRUE or FALSE",
  date: "a date",
  time: "a text in single quotes",
  instant: "a time with its zone",
};

type Literal = "a text in single quotes" | "a number" | "TRUE or FALSE" | "a date" | "a time with its zone";

const EXAMPLES: Readonly<Record<Literal, string>> = {
  "a text in single quotes": "'Sales'",
  "a number": "100",
  "TRUE or FALSE": "TRUE",
  "a date": "2026-02-03 or TODAY",
  "a time with its zone": "2026-02-03T00:00:00Z or TODAY",
};

/** Salesforce would refuse the query of every cycle: a text for a number, LIKE for a date, INCLUDES for a text. */
function refuseMismatch({ name, type }: Filterable, operator: string, values: readonly string[]): void {
  const { kind } = traitsOf(type);
  const wanted = WRITTEN_AS[kind];
  if (operator === "LIKE" && (wanted !== "a text in single quotes" || kind === "choices")) {
    throw refused(`${name} is of type ${type}, which LIKE does not compare; use = or IN`);
  }
  if ((operator === "INCLUDES" || operator === "EXCLUDES") && kind !== "choices") {
    throw refused(`${name} is of type ${type}, which ${operator} does not compare; use IN or NOT IN`);
  }
  const wrong = values.find((value) => value !== "NULL" && !isWrittenAs(value, wanted));
  if (wrong === undefined) return;
  throw refused(`${name} is of type ${type} and is compared with ${wanted}, as ${EXAMPLES[wanted]}, not with ${wrong}`);
}

function isWrittenAs(value: string, kind: Literal): boolean {
  if (value.startsWith("'")) return kind === "a text in single quotes";
  if (/^(?:TRUE|FALSE)$/.test(value)) return kind === "TRUE or FALSE";
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return kind === "a time with its zone";
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return kind === "a date";
  if (/^[A-Z]/.test(value)) return kind === "a date" || kind === "a time with its zone"; // TODAY, LAST_N_DAYS:7
  return kind === "a number";
}

const SET_OPERATORS = new Set(["IN", "NOT IN", "INCLUDES", "EXCLUDES"]);

/** Deeper nesting than any filter needs. */
const MAX_DEPTH = 20;

function readOr(reader: Reader, depth: number): Filter {
  return joined("or", reader, () => joined("and", reader, () => readOne(reader, depth)));
}

function joined(kind: "and" | "or", reader: Reader, read: () => Filter): Filter {
  const first = read();
  const parts = [first];
  while (reader.takesWord(kind)) parts.push(read());
  return parts.length === 1 ? first : { kind, parts };
}

function readOne(reader: Reader, depth: number): Filter {
  if (depth > MAX_DEPTH) throw refused(`it is nested more than ${MAX_DEPTH} deep`);
  if (reader.takesWord("not")) return { kind: "not", part: readOne(reader, depth + 1) };
  if (!reader.takes("(")) return readComparison(reader);
  const inner = readOr(reader, depth + 1);
  reader.expect(")");
  return inner;
}

function readComparison(reader: Reader): Filter {
  const field = reader.match(/[A-Za-z][A-Za-z0-9_]{0,79}/y, "a field");
  const operator = reader.match(/!=|<>|<=|>=|=|<|>|like\b|not\s+in\b|in\b|includes\b|excludes\b/iy, "an operator");
  const kind = operator.toUpperCase().replace(/\s+/, " ").replace("<>", "!=");
  if (!SET_OPERATORS.has(kind)) return { kind: "comparison", field, operator: kind, values: [reader.value()] };
  reader.expect("(");
  const values = [reader.value()];
  while (reader.takes(",")) values.push(reader.value());
  reader.expect(")");
  return { kind: "comparison", field, operator: kind, values };
}

/** A text holds no control character as it is: SOQL writes the usual ones as \\n, \\r, \\t, \\b and \\f. */
const VALUES: readonly RegExp[] = [
  /'(?:[^'\\\p{Cc}]|\\['"\\nrtbf%_])*'/uy,
  /\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)/y,
  /\d{4}-\d\d-\d\d/y,
  /-?\d+(?:\.\d+)?(?![\w.-])/y,
  /(?:true|false|null)\b/iy,
  /(?:today|yesterday|tomorrow|(?:last|this|next)_(?:week|month|quarter|year)|last_90_days|next_90_days)\b(?!:)/iy,
  /(?:last|next)_n_(?:days|weeks|months|quarters|years):\d{1,5}\b/iy,
];

/** A day that no calendar has would be refused by Salesforce with every query. */
function refuseNoDay(value: string): string {
  const day = /^\d{4}-\d\d-\d\d/.exec(value)?.[0];
  if (day === undefined) return value;
  const time = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(day)) throw refused(`there is no day ${day}`);
  return value;
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#skipSpace();
  }

  takes(sign: string): boolean {
    if (!this.#text.startsWith(sign, this.#at)) return false;
    this.#move(sign.length);
    return true;
  }

  takesWord(word: string): boolean {
    return this.#try(new RegExp(`${word}\\b`, "iy")) !== null;
  }

  expect(sign: string): void {
    if (!this.takes(sign)) throw this.#unexpected(sign);
  }

  match(pattern: RegExp, what: string): string {
    const found = this.#try(pattern);
    if (found === null) throw this.#unexpected(what);
    return found;
  }

  value(): string {
    for (const pattern of VALUES) {
      const found = this.#try(pattern);
      if (found?.startsWith("'")) return found;
      if (found !== null) return refuseNoDay(found).toUpperCase();
    }
    throw this.#unexpected("a value: 'text', a number, a date, TRUE, FALSE, NULL");
  }

  end(): void {
    if (this.#at < this.#text.length) throw this.#unexpected("AND, OR or the end");
  }

  #try(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) return null;
    this.#move(found.length);
    return found;
  }

  #move(by: number): void {
    this.#at += by;
    this.#skipSpace();
  }

  #skipSpace(): void {
    while (/\s/.test(this.#text.charAt(this.#at))) this.#at += 1;
  }

  #unexpected(wanted: string): Failure {
    const found = this.#text.slice(this.#at, this.#at + 20) || "the end";
    return refused(`at character ${this.#at + 1} it says ${JSON.stringify(found)}, but ${wanted} is expected there`);
  }
}

function refused(reason: string): Failure {
  return new Failure("VALIDATION_ERROR", `the filter is not understood: ${reason}`);
}
