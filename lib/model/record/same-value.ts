import { traitsOf, type ValueKind } from "../mapping/field-type.ts";
import type { Column } from "../mapping/shape.ts";
import { isSameNumber } from "./decimal.ts";

/** Whether two texts are one value of the column, as Salesforce keeps it: trimmed, to the second. */
export function isSameValue(column: Column, one: string | null, other: string | null): boolean {
  if (!one || !other) return !one && !other;
  const { kind } = traitsOf(column.type);
  if (kind === "number") return isSameNumber(one, other);
  return NORMAL[kind](one) === NORMAL[kind](other);
}

type Normal = (text: string) => string;

const trimmed: Normal = (text) => text.replaceAll("\r\n", "\n").trimEnd();

const NORMAL: Readonly<Record<Exclude<ValueKind, "number">, Normal>> = {
  text: trimmed,
  choices: trimmed,
  boolean: (text) => (text.startsWith("t") ? "true" : "false"),
  date: trimmed,
  instant: (text) => text.slice(0, 19).replace(" ", "T"),
  time: (text) => text.slice(0, 8),
};
