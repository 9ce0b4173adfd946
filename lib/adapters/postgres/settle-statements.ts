import type { MappedTable } from "./layout.ts";
import { type Metadata, name, qualified } from "./sql.ts";

/**
 * Locks changes that are this fence's, and then their rows, as far as no transaction of the customer holds them, and tells
 * whether any of these lacks an sfid. Changes first, or whoever gives a row another key, and so its changes, could wait for us while we
 * wait for him. Parameters: ids, fence.
 */
export function lockStatement({ log }: Metadata, { shape, layout }: MappedTable): string {
  const key = name(layout.key);
  return `
    WITH changes AS MATERIALIZED (
      -- In a CASE, or a log without statistics seems to hold one such change, and each is looked for among all told.
      SELECT record_id, action FROM ${log}
      WHERE id = ANY ((SELECT $1::bigint[])::bigint[]) AND CASE WHEN state = 'PENDING' THEN fence = $2 ELSE false END
      FOR NO KEY UPDATE
    ), rows AS MATERIALIZED (
      SELECT t.${key} AS key, t.sfid FROM ${qualified(shape.schema, shape.table)} t
      WHERE t.${key} = ANY (ARRAY(SELECT record_id FROM changes WHERE action <> 'DELETE'))
      ORDER BY t.${key} FOR UPDATE SKIP LOCKED
    )
    SELECT (SELECT count(*) FROM changes) AS changes, (SELECT coalesce(jsonb_agg(key), '[]') FROM rows) AS rows,
      EXISTS (SELECT FROM rows WHERE sfid IS NULL) AS some_lack_sfid`;
}

/**
 * Writes down how changes ended, with everything that follows from it, and tells the rows that are locked and have not
 * changed again; the others are owed their result. It sees what was committed before the rows were locked. Parameters:
 * those of `settledChanges`, the locked rows, mapping, table, object, time.
 */
export function settleStatement(tables: Metadata, mapped: MappedTable, givesSfids: boolean): string {
  return `
    WITH told AS MATERIALIZED (
      SELECT t.id, t.sfid, t.speaks, e.*
      FROM unnest($2::bigint[], $3::int[], $4::text[], $5::boolean[]) AS t (id, kind, sfid, speaks)
      JOIN jsonb_to_recordset($1::jsonb) AS e (kind int, state text, last_operation text, message text,
        answered_at timestamptz, due_at timestamptz, attempt int, accepted boolean) USING (kind)
    ), ${free(tables, givesSfids ? mapped : null)}, ${settled(tables)}, ${written(mapped)}, ${counted(tables)}
    SELECT all_of_them AS settled, owed FROM counted`;
}

/** Rows that have not changed again, were told all earlier results, and are to get no sfid that another row has. */
function free({ log }: Metadata, givesSfids: MappedTable | null): string {
  return `free AS MATERIALIZED (
      SELECT unnest($6::bigint[]) AS record_id
      EXCEPT SELECT w.record_id FROM ${log} w
        WHERE w.table_name = $8 AND w.record_id = ANY ((SELECT $6::bigint[])::bigint[]) AND w.processed_at IS NULL
          AND w.id NOT IN (SELECT id FROM told WHERE state <> 'NEW')
      EXCEPT SELECT o.record_id FROM ${log} o
        WHERE o.table_name = $8 AND o.record_id = ANY ((SELECT $6::bigint[])::bigint[]) AND o.row_owed
      ${givesSfids ? `EXCEPT ${clashing(log, givesSfids)}` : ""}
    )`;
}

function clashing(log: string, { shape, layout }: MappedTable): string {
  return `SELECT c.record_id FROM told JOIN ${log} c ON c.id = told.id
        JOIN ${qualified(shape.schema, shape.table)} other ON other.sfid = told.sfid AND other.${name(layout.key)} <> c.record_id
        WHERE c.id = ANY ((SELECT $2::bigint[])::bigint[])`;
}

function settled({ log }: Metadata): string {
  return `settled AS (
      UPDATE ${log} l SET state = told.state, last_operation = told.last_operation, updated_at = $10,
        sf_message = told.message, sfid = coalesce(told.sfid, l.sfid), attempts = l.attempts + told.attempt,
        due_at = told.due_at,
        processed_at = CASE WHEN told.state <> 'NEW' THEN $10::timestamptz END,
        processed_tx = CASE WHEN told.state <> 'NEW' THEN txid_current() END,
        sf_result = CASE WHEN told.accepted THEN 1 WHEN told.state = 'FAILED' THEN 0 END,
        row_owed = told.speaks AND told.state <> 'NEW' AND l.action <> 'DELETE'
          AND l.record_id NOT IN (SELECT record_id FROM free),
        confirmed = l.confirmed AND told.state = 'NEW', fence = NULL,
        batch_id = CASE WHEN told.state = 'NEW' THEN NULL ELSE l.batch_id END,
        sent_at = CASE WHEN told.state = 'NEW' THEN NULL ELSE l.sent_at END
      -- By the index, however small the log is: what is settled in parts would look through all of it for each.
      FROM told WHERE l.id = told.id AND l.id = ANY ((SELECT $2::bigint[])::bigint[])
      RETURNING l.id, l.record_id, l.action, l.state, l.last_operation, l.sfid, l.sf_message, l.row_owed,
        told.accepted, told.answered_at, told.speaks, told.sfid AS told_sfid
    )`;
}

function written({ shape, layout }: MappedTable): string {
  return `written AS (
      UPDATE ${qualified(shape.schema, shape.table)} t SET sfid = coalesce(r.told_sfid, t.sfid),
        _ab_lastop = r.last_operation, _ab_err = r.sf_message
      FROM (SELECT DISTINCT ON (record_id) * FROM settled
        WHERE speaks AND state <> 'NEW' AND action <> 'DELETE' AND NOT row_owed ORDER BY record_id, id DESC) r
      WHERE t.${name(layout.key)} = r.record_id
    )`;
}

function counted(tables: Metadata): string {
  return `counted AS (
      SELECT count(*) AS all_of_them, count(*) FILTER (WHERE state = 'SUCCESS') AS success,
        count(*) FILTER (WHERE state = 'FAILED') AS failed, count(*) FILTER (WHERE accepted) AS accepted,
        count(*) FILTER (WHERE row_owed) AS owed
      FROM settled
    ), totals AS (
      INSERT INTO ${tables.totals} AS t (table_name, success, failed) SELECT $8, success, failed FROM counted
      ON CONFLICT (table_name) DO UPDATE SET success = t.success + excluded.success, failed = t.failed + excluded.failed
    ), mapping AS (
      UPDATE ${tables.state} s SET rows_synced = s.rows_synced + counted.accepted,
        rows_failed = s.rows_failed + counted.failed, running_failed = s.running_failed + counted.failed
      FROM counted WHERE s.mapping_id = $7
    ), events AS (
      INSERT INTO ${tables.outbox} (event, occurred_at, detail)
      SELECT 'record.failed', $10, jsonb_build_object('trigger_log_id', id, 'mapping_id', $7::text, 'sf_object', $9::text,
        'table_name', $8::text, 'record_id', record_id, 'sfid', sfid, 'action', action, 'error', sf_message)
      FROM settled WHERE state = 'FAILED' ORDER BY id
    ), pushed AS (
      INSERT INTO ${tables.pushed} (mapping_id, answered_at, sfids)
      SELECT $7, answered_at, array_agg(sfid) FROM settled WHERE accepted AND speaks AND sfid IS NOT NULL GROUP BY answered_at
    ), tombstones AS (
      INSERT INTO ${tables.tombstones} (mapping_id, sfid, record_id, reason, by_salesforce, stamp, deleted_at)
      SELECT $7, sfid, record_id, 'its row was deleted', false, answered_at, $10
      FROM settled WHERE accepted AND action = 'DELETE' AND speaks AND sfid IS NOT NULL
    )`;
}
