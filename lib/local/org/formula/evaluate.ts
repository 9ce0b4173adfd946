import type { Expression } from "./parse-formula.ts";

/** A formula's value; dates and times are ISO text. */
export type Value = string | number | boolean | null;

/** What a formula may ask while it is evaluated. */
export interface Scope {
  readonly now: Date;
  /** The value at a field path, null where there is none. */
  read(path: readonly string[]): Value;
  /** The value before this save; on a new record, the value itself. */
  prior(path: readonly string[]): Value;
  readonly isNew: boolean;
}

type Args = readonly Expression[];

/** The value of a formula in a scope. Unknown functions throw an Error with their name. */
export function evaluate(expression: Expression, scope: Scope): Value {
  if (expression.kind === "literal") return expression.value;
  if (expression.kind === "path") return scope.read(expression.path);
  const lazy = LAZY[expression.name];
  if (lazy) return lazy(expression.args, scope);
  const eager = EAGER[expression.name];
  if (!eager) throw new Error(`the org does not know the formula function ${expression.name}`);
  return eager(expression.args.map((arg) => evaluate(arg, scope)));
}

const isBlank = (value: Value | undefined): boolean => value === null || value === undefined || value === "";
const textOf = (value: Value | undefined): string => (isBlank(value) ? "" : String(value));
const numberOf = (value: Value | undefined): number => (isBlank(value) ? 0 : Number(value));

/** The argument at this place, as a value. */
function at(args: Args, index: number, scope: Scope): Value {
  const arg = args[index];
  return arg ? evaluate(arg, scope) : null;
}

function pathAt(args: Args): readonly string[] {
  const [arg] = args;
  if (arg?.kind !== "path") throw new Error("PRIORVALUE and ISCHANGED take a field");
  return arg.path;
}

/** Functions that must not evaluate all their arguments, or need the scope. */
const LAZY: Readonly<Record<string, (args: Args, scope: Scope) => Value>> = {
  IF: (args, scope) => (at(args, 0, scope) === true ? at(args, 1, scope) : at(args, 2, scope)),
  AND: (args, scope) => args.every((arg) => evaluate(arg, scope) === true),
  OR: (args, scope) => args.some((arg) => evaluate(arg, scope) === true),
  "&&": (args, scope) => args.every((arg) => evaluate(arg, scope) === true),
  "||": (args, scope) => args.some((arg) => evaluate(arg, scope) === true),
  CASE: caseOf,
  TODAY: (_, scope) => scope.now.toISOString().slice(0, 10),
  NOW: (_, scope) => scope.now.toISOString(),
  ISNEW: (_, scope) => scope.isNew,
  ISCHANGED: (args, scope) => !scope.isNew && scope.read(pathAt(args)) !== scope.prior(pathAt(args)),
  PRIORVALUE: (args, scope) => scope.prior(pathAt(args)),
};

function caseOf(args: Args, scope: Scope): Value {
  const wanted = at(args, 0, scope);
  for (let index = 1; index + 1 < args.length; index += 2) {
    if (isSame(wanted, at(args, index, scope))) return at(args, index + 1, scope);
  }
  return at(args, args.length - 1, scope);
}

function isSame(left: Value | undefined, right: Value | undefined): boolean {
  return isBlank(left) || isBlank(right) ? isBlank(left) && isBlank(right) : left === right;
}

/** Comparing with nothing is never true. */
function compare(test: (order: number) => boolean): (args: readonly Value[]) => boolean {
  return ([left = null, right = null]) => {
    if (left === null || right === null) return false;
    return test(left < right ? -1 : Number(left > right));
  };
}

const DAY_MS = 86_400_000;
const isDate = (value: Value | undefined): value is string =>
  typeof value === "string" && /^\d{4}-\d\d-\d\d(T|$)/.test(value);

/** Days after a date or a time, in the form it came in. */
function daysAfter(date: string, days: number): string {
  return new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, date.length);
}

function plus([left = null, right = null]: readonly Value[]): Value {
  if (isDate(left) && typeof right === "number") return daysAfter(left, right);
  if (typeof left === "string" || typeof right === "string") return textOf(left) + textOf(right);
  return numberOf(left) + numberOf(right);
}

function minus([left = null, right = null]: readonly Value[]): Value {
  if (isDate(left) && isDate(right)) return (Date.parse(left) - Date.parse(right)) / DAY_MS;
  if (isDate(left)) return daysAfter(left, -numberOf(right));
  return numberOf(left) - numberOf(right);
}

function rounded(value: number, places: number): number {
  const factor = 10 ** places;
  return (Math.sign(value) * Math.round(Math.abs(value) * factor)) / factor;
}

function addMonths(date: string, months: number): string {
  const moved = new Date(Date.parse(date));
  const day = moved.getUTCDate();
  moved.setUTCDate(1);
  moved.setUTCMonth(moved.getUTCMonth() + months + 1, 0);
  moved.setUTCDate(Math.min(day, moved.getUTCDate()));
  return moved.toISOString().slice(0, date.length);
}

const dateOf = (value: Value | undefined): string | null => (isDate(value) ? value.slice(0, 10) : null);

/** Functions of their values alone. */
const EAGER: Readonly<Record<string, (args: readonly Value[]) => Value>> = {
  "+": plus,
  "-": minus,
  "*": ([left, right]) => numberOf(left) * numberOf(right),
  "/": ([left, right]) => (numberOf(right) === 0 ? null : numberOf(left) / numberOf(right)),
  "^": ([left, right]) => numberOf(left) ** numberOf(right),
  "&": ([left, right]) => textOf(left) + textOf(right),
  "=": ([left, right]) => isSame(left, right),
  "==": ([left, right]) => isSame(left, right),
  "<>": ([left, right]) => !isSame(left, right),
  "!=": ([left, right]) => !isSame(left, right),
  "<": compare((order) => order < 0),
  "<=": compare((order) => order <= 0),
  ">": compare((order) => order > 0),
  ">=": compare((order) => order >= 0),
  NOT: ([value]) => value !== true,
  ISBLANK: ([value]) => isBlank(value),
  ISNULL: ([value]) => isBlank(value),
  ISPICKVAL: ([value, wanted]) => textOf(value) === textOf(wanted),
  INCLUDES: ([value, wanted]) => textOf(value).split(";").includes(textOf(wanted)),
  ISNUMBER: ([value]) => !isBlank(value) && Number.isFinite(Number(value)),
  BLANKVALUE: ([value = null, instead = null]) => (isBlank(value) ? instead : value),
  NULLVALUE: ([value = null, instead = null]) => (isBlank(value) ? instead : value),
  TEXT: ([value]) => textOf(value),
  VALUE: ([value]) => (isBlank(value) ? null : Number(value)),
  LEN: ([value]) => textOf(value).length,
  LEFT: ([value, count]) => textOf(value).slice(0, numberOf(count)),
  RIGHT: ([value, count]) => textOf(value).slice(-numberOf(count) || Number.POSITIVE_INFINITY),
  MID: ([value, start, count]) => textOf(value).slice(numberOf(start) - 1, numberOf(start) - 1 + numberOf(count)),
  CONTAINS: ([value, part]) => textOf(value).includes(textOf(part)),
  BEGINS: ([value, part]) => textOf(value).startsWith(textOf(part)),
  FIND: ([part, value]) => textOf(value).indexOf(textOf(part)) + 1,
  SUBSTITUTE: ([value, old, fresh]) => textOf(value).replaceAll(textOf(old), textOf(fresh)),
  UPPER: ([value]) => textOf(value).toUpperCase(),
  LOWER: ([value]) => textOf(value).toLowerCase(),
  TRIM: ([value]) => textOf(value).trim(),
  LPAD: ([value, length, pad]) => textOf(value).padStart(numberOf(length), textOf(pad) || " "),
  RPAD: ([value, length, pad]) => textOf(value).padEnd(numberOf(length), textOf(pad) || " "),
  REGEX: ([value, pattern]) => new RegExp(`^(?:${textOf(pattern)})$`).test(textOf(value)),
  ABS: ([value]) => Math.abs(numberOf(value)),
  ROUND: ([value, places]) => rounded(numberOf(value), numberOf(places)),
  FLOOR: ([value]) => Math.floor(numberOf(value)),
  CEILING: ([value]) => Math.ceil(numberOf(value)),
  MOD: ([value, by]) => numberOf(value) % numberOf(by),
  SQRT: ([value]) => Math.sqrt(numberOf(value)),
  MAX: (values) => Math.max(...values.map(numberOf)),
  MIN: (values) => Math.min(...values.map(numberOf)),
  DATE: ([year, month, day]) =>
    new Date(Date.UTC(numberOf(year), numberOf(month) - 1, numberOf(day))).toISOString().slice(0, 10),
  DATEVALUE: ([value]) => dateOf(value),
  DATETIMEVALUE: ([value]) => (isDate(value) ? new Date(value).toISOString() : null),
  YEAR: ([value]) => (isDate(value) ? Number(value.slice(0, 4)) : null),
  MONTH: ([value]) => (isDate(value) ? Number(value.slice(5, 7)) : null),
  DAY: ([value]) => (isDate(value) ? Number(value.slice(8, 10)) : null),
  WEEKDAY: ([value]) => (isDate(value) ? new Date(value).getUTCDay() + 1 : null),
  ADDMONTHS: ([value, months]) => (isDate(value) ? addMonths(value, numberOf(months)) : null),
};
