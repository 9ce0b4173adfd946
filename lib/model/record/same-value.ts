import { traitsOf, type ValueKind } from "../mapping/field-type.ts";
import type { Column, ColumnValues } from "../mapping/shape.ts";
import { isSameNumber } from "./decimal.ts";

/** Whether two texts are one value of the column, as Salesforce keeps it: trimmed, to the second, chosen values in any order. */
export function isSameValue(column: Column, one: string | null, other: string | null): boolean {
  if (!one || !other) return !one && !other;
  const { kind } = traitsOf(column.type);
  if (kind === "number") return isSameNumber(one, other);
  return NORMAL[kind](one) === NORMAL[kind](other);
}

/**
 * What Salesforce shows, in the words that one of these sides of a row has for the same value: values that were chosen
 * come back in another order than they were sent, and a text without its last blanks.
 */
export function inWordsOf(
  columns: readonly Column[],
  image: ColumnValues,
  sides: readonly ColumnValues[],
): ColumnValues {
  const said = { ...image };
  for (const column of columns) {
    const shown = image[column.column];
    if (!shown) continue;
    const known = sides.find((side) => isSameValue(column, side[column.column] ?? null, shown));
    if (known) said[column.column] = known[column.column] ?? null;
  }
  return said;
}

type Normal = (text: string) => string;

const trimmed: Normal = (text) => text.replaceAll("\r\n", "\n").trimEnd();

const NORMAL: Readonly<Record<Exclude<ValueKind, "number">, Normal>> = {
  text: trimmed,
  choices: (text) => [...new Set(text.trimEnd().split(";"))].sort().join(";"),
  boolean: (text) => (text.startsWith("t") ? "true" : "false"),
  date: trimmed,
  instant: (text) => text.slice(0, 19).replace(" ", "T"),
  time: (text) => text.slice(0, 8),
};
