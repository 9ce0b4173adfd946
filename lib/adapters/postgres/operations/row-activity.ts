import { longId } from "../../../model/record/long-id.ts";
import type { ActivityQuery, NamedRow } from "../../../monitoring/ports.ts";
import { ACTIVITY_COLUMNS, rowsAsJson } from "../log/log-query.ts";
import {
  type Ask,
  literal,
  type MappedTable,
  type Metadata,
  mappedOf,
  name,
  qualified,
  type Row,
} from "../session/sql.ts";

/** A page of the log about one row, found by all its names; `rows` and `total` as of any other page. */
export async function readRowPage(
  ask: Ask,
  tables: Metadata,
  asked: ActivityQuery,
  named: NamedRow,
): Promise<Row | undefined> {
  const { state, table, before, limit, offset } = asked;
  const states = await ask(
    `SELECT shape, layout FROM ${tables.state} WHERE $1::text IS NULL OR table_name::text = $1`,
    [table],
  );
  const ways = states.flatMap((row) => waysTo(tables, mappedOf(row), named));
  if (ways.length === 0) return undefined;
  const halves = ["NULL", "NOT NULL"].map(
    (is) =>
      `SELECT l.* FROM named n JOIN ${tables.log} l ON l.table_name::text = n.table_name::text AND l.record_id = n.record_id AND l.processed_at IS ${is}`,
  );
  const [page] = await ask(
    `WITH named AS (${ways.join(" UNION ")}), found AS (SELECT * FROM (${halves.join(" UNION ALL ")}) AS both_halves
       WHERE $1::text IS NULL OR state::text = $1)
     SELECT (SELECT count(*) FROM found) AS total, ${rowsAsJson(
       `SELECT ${ACTIVITY_COLUMNS} FROM found l WHERE $2::bigint IS NULL OR l.id < $2 ORDER BY l.id DESC LIMIT $3::bigint OFFSET $4::bigint`,
     )} AS rows`,
    [state, before ?? null, limit, offset],
  );
  return page;
}

/** SELECTs of table and key: of the row that is there, and of one that is gone. */
function waysTo({ tombstones }: Metadata, { shape, layout }: MappedTable, { sfid, row, key }: NamedRow): string[] {
  const table = `${literal(shape.table)}::text AS table_name`;
  const upsert = shape.columns.find(({ field }) => field === shape.upsertField)?.column;
  if (key !== null && upsert === undefined) return [];
  const conditions = [
    ...(sfid === null ? [] : [`t.sfid::text = ${literal(longId(sfid))}`]),
    ...(row === null ? [] : [`t.${name(layout.key)} = ${row}`]),
    ...(key === null ? [] : [isKey(upsert ?? "", literal(key))]),
  ].join(" AND ");
  const there = `SELECT ${table}, t.${name(layout.key)}::bigint AS record_id FROM ${qualified(shape.schema, shape.table)} t WHERE ${conditions}`;
  if (key !== null) return [there];
  if (sfid === null) return [there, `SELECT ${table}, ${row}::bigint`];
  const gone = `SELECT ${table}, record_id FROM ${tombstones} WHERE mapping_id = ${literal(shape.mappingId)} AND sfid::text = ${literal(longId(sfid))}`;
  return [there, row === null ? gone : `${gone} AND record_id = ${row}`];
}

/** A condition: the row's upsert value is that text. Of texts it reads the index. */
export const isKey = (column: string, text: string): string => `t.${name(column)}::text = ${text}::text`;
