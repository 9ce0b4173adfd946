import type { MappedTable, StoreContext } from "../session/sql.ts";

/** A change that ends FAILED for a reason of ours. */
export interface RefusedChange {
  readonly id: number;
  /** `CODE: message`. */
  readonly reason: string;
}

/**
 * Ends changes FAILED, whatever their state was, with totals and events, in the caller's transaction. They are
 * superseded: a newer change of the row does not carry them. Those that are FAILED already are only superseded.
 */
export async function refuseChanges(
  { session, tables, now }: StoreContext,
  { shape }: MappedTable,
  changes: readonly RefusedChange[],
): Promise<void> {
  if (changes.length === 0) return;
  await session.query(
    `WITH before AS (
       SELECT l.id, l.state, r.reason FROM unnest(:ids::bigint[], :reasons::text[]) AS r (id, reason)
       JOIN ${tables.log} l ON l.id = r.id WHERE l.state::text <> 'FAILED' FOR NO KEY UPDATE OF l
     ), refused AS (
       UPDATE ${tables.log} l SET state = 'FAILED', last_operation = 'FAILED', sf_message = b.reason, sf_result = 0,
         superseded = true, fence = NULL, due_at = NULL, updated_at = :now, processed_at = :now, processed_tx = txid_current()
       FROM before b WHERE l.id = b.id
       RETURNING l.id, l.record_id, l.sfid, l.action, l.sf_message, b.state AS was
     ), again AS (
       UPDATE ${tables.log} SET superseded = true WHERE id = ANY (:ids::bigint[]) AND state::text = 'FAILED'
     ), moved AS (
       SELECT count(*) AS changes, count(DISTINCT record_id) AS rows, count(*) FILTER (WHERE was::text = 'SUCCESS') AS successes
       FROM refused
     ), totals AS (
       INSERT INTO ${tables.totals} AS t (table_name, failed) SELECT :table, changes FROM moved
       ON CONFLICT (table_name) DO UPDATE SET failed = t.failed + excluded.failed,
         success = t.success - (SELECT successes FROM moved)
     ), mapping AS (
       UPDATE ${tables.state} s SET rows_failed = s.rows_failed + moved.changes, running_failed = s.running_failed + moved.rows
       FROM moved WHERE s.mapping_id = :mapping
     )
     INSERT INTO ${tables.outbox} (event, occurred_at, detail)
     SELECT 'record.failed', :now, jsonb_build_object('trigger_log_id', id, 'mapping_id', :mapping::text, 'sf_object', :object::text,
       'table_name', :table::text, 'record_id', record_id, 'sfid', sfid, 'action', action, 'error', sf_message)
     FROM refused ORDER BY id`,
    {
      ids: changes.map(({ id }) => id),
      reasons: changes.map(({ reason }) => reason),
      ...{ table: shape.table, mapping: shape.mappingId, object: shape.sfObject, now: now() },
    },
  );
}
