import type { Column } from "../mapping/shape.ts";

/**
 * The columns whose fields Salesforce describes otherwise now: longer, of another type, no longer writable. What was tried
 * already for a column that had to stay narrow is no change.
 */
export function changedColumns(before: readonly Column[], after: readonly Column[]): readonly string[] {
  const known = new Map(before.map((column) => [column.column, traitsOf({ ...column, ...column.outgrown })]));
  return after.filter((column) => known.get(column.column) !== traitsOf(column)).map(({ column }) => column);
}

const traitsOf = ({ field, type, length, precision, scale, createable, updateable, nillable, referenceTo }: Column) =>
  JSON.stringify([field, type, length, precision, scale, createable, updateable, nillable, referenceTo]);
