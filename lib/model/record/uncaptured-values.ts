import type { ConflictPolicy } from "../mapping/mapping.ts";
import type { Column, ColumnValues } from "../mapping/shape.ts";
import { type Collision, winnerBy } from "./merge.ts";
import { isSameValue } from "./same-value.ts";

/** The columns in which a row holds another value than its record, as Salesforce keeps values; a NULL loses nothing. */
export function differingColumns(
  columns: readonly Column[],
  row: ColumnValues,
  image: ColumnValues,
): readonly Column[] {
  return columns.filter((column) => {
    const value = row[column.column] ?? null;
    return value !== null && column.column in image && !isSameValue(column, value, image[column.column] ?? null);
  });
}

/** Which side wins each of these columns. `writtenAt` null: unknown when the row got its values; Salesforce wins. */
export function winnersOf(
  policy: ConflictPolicy,
  columns: readonly Column[],
  stamp: Date,
  writtenAt: Date | null,
): ReadonlyMap<string, Collision["winner"]> {
  const winner = winnerBy(policy, stamp, writtenAt === null ? [] : [{ capturedAt: writtenAt }]);
  return new Map(columns.map(({ column, updateable }) => [column, updateable ? winner : "salesforce"]));
}
