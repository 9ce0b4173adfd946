import { ROW_REFUSES } from "../../../model/change/row-refuses.ts";
import { refusalOf } from "../session/savepoint.ts";
import {
  literal,
  type MappedTable,
  type Metadata,
  name,
  qualified,
  type Row,
  type StoreContext,
  within,
} from "../session/sql.ts";
import { messageOf, sqlState } from "../session/sql-errors.ts";
import { resolveClashes } from "./sfid-clashes.ts";

/** What one pass writes at most. */
const ROWS_AT_ONCE = 5_000;

/** How many rows that refuse one pass looks for. Where none but such was found, all others count as such. */
const REFUSALS_AT_ONCE = 20;

/** A row that lacks its sfid is asked again when that is 10 s old, 20 s, 40 s, and so on, at most an hour later. */
const FIRST_RETRY = "interval '10 s'";
const LAST_RETRY = "interval '1 h'";

interface PendingRow {
  readonly record_id: number;
  readonly exists: boolean;
  readonly locked: boolean;
  readonly lacks_sfid: boolean;
}

/**
 * Writes the results of changes back to their rows: sfid, `_ab_lastop`, `_ab_err`. Rows that a transaction of the
 * customer holds are left for the next pass. First the rows are locked; then a statement that sees what was committed
 * until then finds which of them have changed again: those stay PENDING.  A row that refuses, by a trigger or a
 * constraint of the customer's, gets nothing and blocks no other row: its result is in the log, with what the row said.
 * Only a row without its sfid is asked again, and waits until it has it: its next change would create another record.
 */
export async function writeBackRows(store: StoreContext, mapped: MappedTable): Promise<void> {
  await writeLocked(store, mapped, await store.session.query(lockRowsToWriteBack(store, mapped)));
}

/** The same for rows that `lockRowsToWriteBack` has locked in this transaction. */
export async function writeLocked(store: StoreContext, mapped: MappedTable, locked: readonly Row[]): Promise<void> {
  const pending = locked as readonly unknown[] as readonly PendingRow[];
  const ready = pending.filter(({ exists, locked }) => locked || !exists);
  const refusals: Refusal[] = [];
  const pieces = ready.length === 0 ? [] : [ready];
  let isAnyWritten = false;
  while (refusals.length < REFUSALS_AT_ONCE) {
    const piece = pieces.pop();
    const [first, ...others] = piece ?? [];
    if (piece === undefined || first === undefined) break;
    const error = await refusalOf(store.session, () => write(store, mapped, piece));
    const half = Math.ceil(piece.length / 2);
    if (error === null) isAnyWritten = true;
    else if (others.length === 0) refusals.push({ row: first, error });
    else pieces.push(piece.slice(half), piece.slice(0, half));
  }
  // A table that is closed as a whole; what is left of another one is the next pass's.
  const [known] = refusals;
  if (known && !isAnyWritten) refusals.push(...pieces.flat().map((row) => ({ row, error: known.error })));
  if (refusals.length > 0) await noteRefusals(store, mapped, refusals);
}

interface Refusal {
  readonly row: PendingRow;
  readonly error: unknown;
}

async function write(store: StoreContext, mapped: MappedTable, pending: readonly PendingRow[]): Promise<void> {
  const { session, tables } = store;
  const { table } = mapped.shape;
  const ready = pending.map((row) => row.record_id);
  if (pending.some((row) => row.locked && row.lacks_sfid)) await resolveClashes(store, mapped, ready);
  const without = pending.filter((row) => row.lacks_sfid || !row.exists).map((row) => row.record_id);
  if (without.length > 0) await session.query(writeBackLater(tables), [table, without]);
  await session.query(writeStatement(tables, mapped), [table, ready]);
}

async function noteRefusals(store: StoreContext, mapped: MappedTable, refusals: readonly Refusal[]): Promise<void> {
  const { session, tables, now, refusedWriteBacks: unwritten } = store;
  await session.query(
    `UPDATE ${tables.log} l SET row_owed = r.lacks_sfid AND l.sfid IS NOT NULL,
       due_at = CASE WHEN r.lacks_sfid AND l.sfid IS NOT NULL
         THEN :now::timestamptz + least(greatest(${FIRST_RETRY}, :now - (${within("l.processed_at")})), ${LAST_RETRY}) END,
       sf_message = CASE WHEN l.state::text = 'FAILED' THEN l.sf_message ELSE r.words END
     FROM unnest(:rows::bigint[], :lacksSfid::boolean[], :words::text[]) AS r (record_id, lacks_sfid, words)
     WHERE l.table_name::text = :table AND l.row_owed AND l.record_id = r.record_id`,
    {
      table: mapped.shape.table,
      rows: refusals.map(({ row }) => row.record_id),
      lacksSfid: refusals.map(({ row }) => row.lacks_sfid),
      words: refusals.map(
        ({ error }) =>
          `${ROW_REFUSES}: its result was not written to it (SQLSTATE ${sqlState(error)}): ${messageOf(error)}`,
      ),
      now: now(),
    },
  );
  unwritten.rows += refusals.length;
  unwritten.sqlState = sqlState(refusals[0]?.error);
}

/** A statement without parameters; it locks the rows that can be written. */
export function lockRowsToWriteBack({ tables, now }: StoreContext, { shape, layout }: MappedTable): string {
  const table = qualified(shape.schema, shape.table);
  const key = name(layout.key);
  return `
    WITH pending AS (
      SELECT DISTINCT record_id FROM ${tables.log} WHERE table_name::text = ${literal(shape.table)} AND row_owed
        AND (due_at IS NULL OR due_at <= ${literal(now().toISOString())} OR NOT EXISTS (
          SELECT FROM ${table} t WHERE t.${key} = record_id)) LIMIT ${ROWS_AT_ONCE}
    ), locked AS (
      SELECT t.${key} AS key, t.sfid FROM ${table} t
      WHERE t.${key} = ANY (ARRAY(SELECT record_id FROM pending)) ORDER BY t.${key} FOR UPDATE SKIP LOCKED
    )
    SELECT pending.record_id, locked.key IS NOT NULL AS locked, locked.key IS NOT NULL AND locked.sfid IS NULL AS lacks_sfid,
      EXISTS (SELECT FROM ${table} t WHERE t.${key} = pending.record_id) AS exists
    FROM pending LEFT JOIN locked ON locked.key = pending.record_id`;
}

/** What a row has said of a change that succeeded is not its result. */
const SAID_BY_SALESFORCE = "CASE WHEN state::text = 'FAILED' THEN sf_message END";

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
    UPDATE ${tables.log} SET row_owed = false, due_at = NULL, sf_message = ${SAID_BY_SALESFORCE}
    WHERE table_name::text = $1 AND row_owed AND record_id = ANY ($2::bigint[])`;
}

/** A change captured before its row had an sfid gets it, up to that row's end. */
function writeBackLater(tables: Metadata): string {
  return `
    WITH results AS (${results(tables)})
    UPDATE ${tables.log} l SET sfid = r.sfid
    FROM results r
    WHERE r.sfid IS NOT NULL AND r.changed_again AND l.table_name::text = $1 AND l.record_id = ANY ($2::bigint[])
      AND l.record_id = r.record_id AND l.processed_at IS NULL AND l.sfid IS NULL
      AND l.id <= coalesce(r.first_delete, l.id)`;
}

/**
 * What is written to each row: its last result, its sfid if any result brought one, and whether it changed again. One
 * pass over two indexes: a search for each row's waiting changes would be planned as a pass over all that wait.
 */
function results({ log }: Metadata): string {
  const ofRows = "table_name::text = $1 AND record_id = ANY ($2::bigint[])";
  return `
      SELECT record_id, (array_agg(last_operation ORDER BY id DESC) FILTER (WHERE pending))[1] AS last_operation,
        (array_agg(sf_message ORDER BY id DESC) FILTER (WHERE pending))[1] AS message,
        (array_agg(sfid ORDER BY id DESC) FILTER (WHERE pending AND sfid IS NOT NULL))[1] AS sfid,
        bool_or(NOT pending) AS changed_again, min(id) FILTER (WHERE NOT pending AND action::text = 'DELETE') AS first_delete
      FROM (
        SELECT record_id, id, action, last_operation, ${SAID_BY_SALESFORCE} AS sf_message, sfid, true AS pending FROM ${log} WHERE ${ofRows} AND row_owed
        UNION ALL
        SELECT record_id, id, action, NULL, NULL, NULL, false FROM ${log} WHERE ${ofRows} AND processed_at IS NULL
      ) AS both_kinds GROUP BY record_id`;
}
