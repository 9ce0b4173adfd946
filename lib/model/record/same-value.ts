import { traitsOf, type ValueKind } from "../mapping/field-type.ts";
import type { Column } from "../mapping/shape.ts";

/** Whether two texts are one value of the column, as Salesforce keeps it: rounded, trimmed, to the second. */
export function isSameValue(column: Column, one: string | null, other: string | null): boolean {
  if (!one || !other) return !one && !other;
  const normal = NORMAL[traitsOf(column.type).kind];
  return normal(one, column) === normal(other, column);
}

type Normal = (text: string, column: Column) => string;

const trimmed: Normal = (text) => text.replaceAll("\r\n", "\n").trimEnd();

const NORMAL: Readonly<Record<ValueKind, Normal>> = {
  text: trimmed,
  choices: trimmed,
  number: rounded,
  boolean: (text) => (text.startsWith("t") ? "true" : "false"),
  date: trimmed,
  instant: (text) => text.slice(0, 19).replace(" ", "T"),
  time: (text) => text.slice(0, 8),
};

/** A number as PostgreSQL, Salesforce and JavaScript write it: `350000000.00`, `3.5E8`. */
const DECIMAL = /^(-?)(\d+)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i;

/** Decimal digits without loss, half away from zero at the field's scale. */
function rounded(text: string, { scale }: Column): string {
  const parts = DECIMAL.exec(text);
  if (!parts) return String(Number(text));
  const [, sign, whole = "", fraction = "", exponent = "0"] = parts;
  const digits = whole + fraction;
  const end = whole.length + Number(exponent) + scale; // where the digits end that the field keeps
  const kept = BigInt(digits.slice(0, Math.max(end, 0)).padEnd(end, "0"));
  const up = (digits[end] ?? "0") >= "5" ? 1n : 0n;
  const all = (kept + up).toString();
  return all === "0" ? "0" : `${sign}${all}`;
}
