import type { Workbench } from "./fence.ts";
import type { MappedTable } from "./layout.ts";
import type { Row } from "./session.ts";
import { resolveClashes } from "./sfid-clashes.ts";
import { literal, type Metadata, name, qualified } from "./sql.ts";

/** What one pass writes at most. */
const ROWS_AT_ONCE = 5_000;

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
  await writeLocked(bench, mapped, await bench.session.query(lockOwedRows(bench.tables, mapped)));
}

/** The same for rows that `lockOwedRows` has locked in this transaction. */
export async function writeLocked(bench: Workbench, mapped: MappedTable, locked: readonly Row[]): Promise<void> {
  const { session, tables } = bench;
  const { table } = mapped.shape;
  const owed = locked as readonly unknown[] as readonly OwedRow[];
  const ready = owed.filter(({ exists, locked }) => locked || !exists).map((row) => row.record_id);
  if (ready.length === 0) return;
  if (owed.some((row) => row.locked && row.lacks_sfid)) await resolveClashes(bench, mapped, ready);
  const without = owed.filter((row) => row.lacks_sfid || !row.exists).map((row) => row.record_id);
  if (without.length > 0) await session.query(tellLater(tables), [table, without]);
  await session.query(writeStatement(tables, mapped), [table, ready]);
}

/** A statement without parameters; it locks the rows that can be told. */
export function lockOwedRows(tables: Metadata, { shape, layout }: MappedTable): string {
  const table = qualified(shape.schema, shape.table);
  const key = name(layout.key);
  return `
    WITH owed AS (
      SELECT DISTINCT record_id FROM ${tables.log} WHERE table_name = ${literal(shape.table)} AND row_owed LIMIT ${ROWS_AT_ONCE}
    ), locked AS (
      SELECT t.${key} AS key, t.sfid FROM ${table} t
      WHERE t.${key} = ANY (ARRAY(SELECT record_id FROM owed)) ORDER BY t.${key} FOR UPDATE SKIP LOCKED
    )
    SELECT owed.record_id, locked.key IS NOT NULL AS locked, locked.key IS NOT NULL AND locked.sfid IS NULL AS lacks_sfid,
      EXISTS (SELECT FROM ${table} t WHERE t.${key} = owed.record_id) AS exists
    FROM owed LEFT JOIN locked ON locked.key = owed.record_id`;
}

function writeStatement(tables: Metadata, { shape, layout }: MappedTable): string {
  return `
    WITH results AS (${results(tables)}
    ), written AS (
      UPDATE ${qualified(shape.schema, shape.table)} t SET sfid = coalesce(r.sfid, t.sfid),
        _ab_lastop = CASE WHEN r.changed_again THEN t._ab_lastop ELSE r.last_operation END,
        _ab_err = CASE WHEN r.changed_again THEN t._ab_err ELSE r.message END
      FROM results r
      -- Where a deletion waits the row of that time is gone; whatever has its key now is another.
      WHERE t.${name(layout.key)} = r.record_id AND r.first_delete IS NULL
    )
    UPDATE ${tables.log} SET row_owed = false
    WHERE table_name = $1 AND row_owed AND record_id = ANY ($2::bigint[])`;
}

/** A change captured before its row had an sfid learns it, up to that row's end. */
function tellLater(tables: Metadata): string {
  return `
    WITH results AS (${results(tables)})
    UPDATE ${tables.log} l SET sfid = r.sfid
    FROM results r
    WHERE r.sfid IS NOT NULL AND r.changed_again AND l.table_name = $1 AND l.record_id = ANY ($2::bigint[])
      AND l.record_id = r.record_id AND l.processed_at IS NULL AND l.sfid IS NULL
      AND l.id <= coalesce(r.first_delete, l.id)`;
}

/**
 * What each row is to be told: its last result, its sfid if any result brought one, and whether it changed again. One
 * pass over two indexes: looking each row's waiting changes up would be planned as a pass over all that wait.
 */
function results({ log }: Metadata): string {
  const ofRows = "table_name = $1 AND record_id = ANY ($2::bigint[])";
  return `
      SELECT record_id, (array_agg(last_operation ORDER BY id DESC) FILTER (WHERE owed))[1] AS last_operation,
        (array_agg(sf_message ORDER BY id DESC) FILTER (WHERE owed))[1] AS message,
        (array_agg(sfid ORDER BY id DESC) FILTER (WHERE owed AND sfid IS NOT NULL))[1] AS sfid,
        bool_or(NOT owed) AS changed_again, min(id) FILTER (WHERE NOT owed AND action = 'DELETE') AS first_delete
      FROM (
        SELECT record_id, id, action, last_operation, sf_message, sfid, true AS owed FROM ${log} WHERE ${ofRows} AND row_owed
        UNION ALL
        SELECT record_id, id, action, NULL, NULL, NULL, false FROM ${log} WHERE ${ofRows} AND processed_at IS NULL
      ) AS both_kinds GROUP BY record_id`;
}
