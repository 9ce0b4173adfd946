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

/** Decimal digits without loss, half away from zero at the field's scale. */
function rounded(text: string, { scale }: Column): string {
  const parts = /^(-?)(\d+)(?:\.(\d*))?$/.exec(text);
  if (!parts) return String(Number(text));
  const [, sign, whole = "0", fraction = ""] = parts;
  const kept = BigInt(whole + fraction.slice(0, scale).padEnd(scale, "0"));
  const up = (fraction[scale] ?? "0") >= "5" ? 1n : 0n;
  const digits = (kept + up).toString();
  return digits === "0" ? "0" : `${sign}${digits}`;
}
