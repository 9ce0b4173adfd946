import type { Workbench } from "./fence.ts";
import type { MappedTable } from "./layout.ts";
import { resolveClashes } from "./sfid-clashes.ts";
import { type Metadata, name, qualified } from "./sql.ts";

/** What one pass writes at most. */
const ROWS_AT_ONCE = 1_000;

interface OwedRow {
  readonly record_id: number;
  readonly exists: boolean;
  readonly locked: boolean;
  readonly lacks_sfid: boolean;
}

/**
 * Tells rows what became of their changes: sfid, `_ab_lastop`, `_ab_err`. Rows that a transaction of the customer holds
 * are left for the next pass instead of waited for. First the rows are locked, then, by a statement that sees what was
 * committed until then, it is judged which of them have changed again: those stay PENDING.
 */
export async function writeOwedRows(bench: Workbench, mapped: MappedTable): Promise<void> {
  const { session, tables } = bench;
  const { table } = mapped.shape;
  const owed = await session.query<OwedRow>(lockStatement(tables, mapped), [table]);
  const ready = owed.filter(({ exists, locked }) => locked || !exists).map((row) => row.record_id);
  if (ready.length === 0) return;
  if (owed.some((row) => row.locked && row.lacks_sfid)) await resolveClashes(bench, mapped, ready);
  await session.query(writeStatement(tables, mapped), [table, ready]);
}

function lockStatement(tables: Metadata, { shape, layout }: MappedTable): string {
  const table = qualified(shape.schema, shape.table);
  const key = name(layout.key);
  return `
    WITH owed AS (
      SELECT DISTINCT record_id FROM ${tables.log} WHERE table_name = $1 AND row_owed LIMIT ${ROWS_AT_ONCE}
    ), locked AS (
      SELECT t.${key} AS key, t.sfid FROM ${table} t
      WHERE t.${key} IN (SELECT record_id FROM owed) ORDER BY t.${key} FOR UPDATE SKIP LOCKED
    )
    SELECT owed.record_id, locked.key IS NOT NULL AS locked, locked.key IS NOT NULL AND locked.sfid IS NULL AS lacks_sfid,
      EXISTS (SELECT FROM ${table} t WHERE t.${key} = owed.record_id) AS exists
    FROM owed LEFT JOIN locked ON locked.key = owed.record_id`;
}

function writeStatement(tables: Metadata, { shape, layout }: MappedTable): string {
  const table = qualified(shape.schema, shape.table);
  const key = name(layout.key);
  const waiting = (condition: string) =>
    `EXISTS (SELECT FROM ${tables.log} w WHERE w.table_name = $1 AND w.record_id = owed.record_id
      AND w.processed_at IS NULL AND ${condition})`;
  return `
    WITH owed AS (
      SELECT record_id, max(id) AS id, (array_agg(last_operation ORDER BY id DESC))[1] AS last_operation,
        (array_agg(sf_message ORDER BY id DESC))[1] AS message,
        (array_agg(sfid ORDER BY id DESC) FILTER (WHERE sfid IS NOT NULL))[1] AS sfid
      FROM ${tables.log} WHERE table_name = $1 AND row_owed AND record_id = ANY ($2::bigint[]) GROUP BY record_id
    ), judged AS (
      SELECT owed.*, ${waiting("true")} AS changed_again FROM owed
      -- The row of that time is gone; whatever has its key now is another.
      WHERE NOT ${waiting("w.action = 'DELETE' AND w.id > owed.id")}
    ), written AS (
      UPDATE ${table} t SET sfid = coalesce(j.sfid, t.sfid),
        _ab_lastop = CASE WHEN j.changed_again THEN t._ab_lastop ELSE j.last_operation END,
        _ab_err = CASE WHEN j.changed_again THEN t._ab_err ELSE j.message END
      FROM judged j WHERE t.${key} = j.record_id
    ), later AS (
      -- A change captured before its row had an sfid learns it, up to that row's end.
      UPDATE ${tables.log} l SET sfid = owed.sfid
      FROM owed
      WHERE owed.sfid IS NOT NULL AND l.table_name = $1 AND l.record_id = owed.record_id AND l.id > owed.id
        AND l.processed_at IS NULL AND l.sfid IS NULL
        AND NOT ${waiting("w.action = 'DELETE' AND w.id > owed.id AND w.id < l.id")}
    )
    UPDATE ${tables.log} SET row_owed = false
    WHERE table_name = $1 AND row_owed AND record_id = ANY ($2::bigint[])`;
}
