import { equal, type MappedTable, name, qualified, type StoreContext, typed } from "../session/sql.ts";
import type { RowToWrite } from "./row-to-write.ts";

/**
 * Two records that have swapped their upsert values cannot be written in one statement, because PostgreSQL looks at each
 * row as it is written. Rows whose value another one of the page is to get have none until they get their own.
 */
export async function giveUpUpsertValues(
  { session }: StoreContext,
  { shape, layout }: MappedTable,
  rows: readonly RowToWrite[],
): Promise<void> {
  const column = shape.columns.find(({ field }) => field === shape.upsertField)?.column;
  if (column === undefined) return;
  const written = rows.filter(({ isSure, values }) => isSure && column in values);
  await session.query(
    `WITH image AS MATERIALIZED (
       SELECT i.key, ${typed(layout, column, "i.text")} AS value FROM unnest($1::bigint[], $2::text[]) AS i (key, text)
     )
     UPDATE ${qualified(shape.schema, shape.table)} t SET ${name(column)} = NULL
     FROM image mine JOIN image other ON other.key <> mine.key
     WHERE t.${name(layout.key)} = mine.key AND ${equal(layout, column, `t.${name(column)}`, "other.value")}
       AND (${equal(layout, column, `t.${name(column)}`, "mine.value")}) IS NOT TRUE`,
    [written.map(({ key }) => key), written.map(({ values }) => values[column])],
  );
}
