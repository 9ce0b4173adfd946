import { IN_DOUBT } from "../../../model/change/in-doubt.ts";
import { waitsFor } from "../../../model/change/missing-parent.ts";
import { setsBlockedKey } from "../log/blocked-keys.ts";
import { parentOf, waitsForParent } from "../log/change-states.ts";
import { literal, type MappedTable, type Metadata, name, qualified } from "../session/sql.ts";

/**
 * Records the outcome of the changes that this fence holds, with all that follows from it, and writes it back to the
 * rows that have not changed since all their changes were claimed. The others get `row_owed`, also those whose sfid
 * another row has, and with `skipsHeld` those that a transaction holds: `unwritten`.  All changes are locked before the
 * first row, or a transaction that gives a row another key, and so its changes, could wait for us while we wait for it.
 * Where not all are this fence's, no row is touched. `:handled` are the claims that name no other changes, `:failedRows`
 * the rows that have failed in this cycle already.
 */
export function settleStatement(
  tables: Metadata,
  mapped: MappedTable,
  { skipsHeld, keepsAttempts }: { readonly skipsHeld: boolean; readonly keepsAttempts: boolean },
): string {
  return `
    WITH results AS MATERIALIZED (
      SELECT * FROM jsonb_to_recordset(:changes::jsonb) AS t (id bigint, sfid text, speaks boolean, version xid, state text,
        last_operation text, message text, answered_at timestamptz, due_at timestamptz, attempt int, accepted boolean, held boolean)
    ), ${settled(tables, mapped)}, ${kept(tables)}, ${counted(tables)}${keepsAttempts ? `, ${attempted(tables)}` : ""}${skipsHeld ? `, ${free(mapped)}` : ""}, ${written(mapped, skipsHeld)}
    SELECT all_of_them AS settled, pending, CASE WHEN known > (SELECT count(*) FROM written) THEN (
        SELECT jsonb_agg(s.id) FROM settled s WHERE ${KNOWN} AND s.id NOT IN (SELECT id FROM written)
      ) END AS unwritten, success > 0 AND EXISTS (SELECT FROM ${tables.log} w WHERE ${waitsForParent("w.")}) AS children_wait
    FROM counted`;
}

/**
 * Makes changes of other rows due that wait for a parent whose key these changes have saved, by the external ids that
 * mappings name parents of this object by. A claimed change looks for its parent itself. Parameters: ids, time.
 */
export function wakeChildrenStatement({ log, state }: Metadata, { shape }: MappedTable): string {
  const own = shape.columns
    .filter(({ parent }) => !parent)
    .map(({ field, column }) =>
      [field.toLowerCase(), column, waitsFor({ object: shape.sfObject, field, value: "" })].map(literal).join(", "),
    );
  return `
    UPDATE ${log} SET due_at = $2 WHERE id = ANY (ARRAY(
      SELECT c.id FROM ${log} c WHERE ${waitsForParent("c.")} AND c.state::text = 'NEW' AND c.due_at > $2
        AND ${parentOf("c.sf_message")} = ANY (ARRAY(
          SELECT ${parentOf(`own.message || btrim(l."values" ->> own.name)`)}
          FROM (VALUES (${own.join("), (")})) AS own (field, name, message)
          JOIN ${log} l ON l.id = ANY ($1::bigint[]) AND l."values" ->> own.name IS NOT NULL
          WHERE own.field IN (
            SELECT lower(p.named #>> '{parent,field}')
            FROM ${state} s CROSS JOIN LATERAL jsonb_array_elements(s.shape -> 'columns') AS p (named)
            WHERE p.named #>> '{parent,object}' = ${literal(shape.sfObject)})))
      FOR NO KEY UPDATE SKIP LOCKED))`;
}

/** Leaves the results of settled changes to a later write-back. Parameter: ids. */
export const writeBackStatement = ({ log }: Metadata): string =>
  `UPDATE ${log} SET row_owed = true WHERE id = ANY ($1::bigint[])`;

/** The settled changes whose result goes to a row that is known by its version. */
const KNOWN = "s.version IS NOT NULL AND s.state::text <> 'NEW' AND s.action::text <> 'DELETE'";

function settled({ log }: Metadata, mapped: MappedTable): string {
  return `settled AS (
      UPDATE ${log} l SET state = results.state, last_operation = results.last_operation, updated_at = :now,
        sf_message = results.message, sfid = coalesce(results.sfid, l.sfid), attempts = l.attempts + results.attempt,
        due_at = results.due_at, held = results.held${setsBlockedKey(mapped, "results.state = 'NEW'")},
        processed_at = CASE WHEN results.state <> 'NEW' THEN :now::timestamptz END,
        processed_tx = CASE WHEN results.state <> 'NEW' THEN txid_current() END,
        sf_result = CASE WHEN results.accepted THEN 1 WHEN results.state = 'FAILED' THEN 0 END,
        row_owed = results.speaks AND results.version IS NULL AND results.state <> 'NEW' AND l.action::text <> 'DELETE',
        confirmed = l.confirmed AND results.state = 'NEW', fence = CASE WHEN l.state::text = 'FAILED' THEN l.fence END,
        batch_id = CASE WHEN results.state = 'NEW' THEN NULL ELSE l.batch_id END,
        sent_at = CASE WHEN results.state = 'NEW' THEN NULL ELSE l.sent_at END
      -- By the index, however small the log is: what is settled in parts would look through all of it for each.
      -- In a CASE, or a log without statistics seems to hold one such change, and each is looked for among all results.
      FROM results WHERE l.id = results.id AND l.id = ANY ((SELECT :ids::bigint[])::bigint[])
        AND CASE WHEN l.state::text = 'PENDING' OR l.state::text = 'FAILED' AND results.state = 'SUCCESS' THEN l.fence = :fence ELSE false END
      RETURNING l.id, l.record_id, l.action, l.state, l.attempts, l.fence IS NOT NULL AS was_carried, l.last_operation,
        l.sfid, l.sf_message, l.row_owed, results.accepted, results.answered_at, results.speaks, results.sfid AS new_sfid, results.version,
        l.state::text = results.state AS is_kept
    )`;
}

/** Carried changes whose write was not accepted stay as they were; only a change in doubt shares or loses that. */
function kept({ log }: Metadata): string {
  const isDoubt = (message: string) => `starts_with(${message}, ${literal(IN_DOUBT)})`;
  return `kept AS (
      UPDATE ${log} l SET fence = NULL, updated_at = :now, batch_id = CASE WHEN results.state = 'FAILED' THEN l.batch_id END,
        sent_at = CASE WHEN results.state = 'FAILED' THEN l.sent_at END,
        sf_message = CASE WHEN ${isDoubt("l.sf_message")} OR ${isDoubt("results.message")} THEN results.message ELSE l.sf_message END
      FROM results WHERE l.id = results.id AND l.id = ANY (ARRAY(SELECT id FROM results WHERE state::text <> 'SUCCESS'))
        AND CASE WHEN l.state::text = 'FAILED' THEN l.fence = :fence ELSE false END
      RETURNING l.id
    )`;
}

/** What Salesforce refused stays to be seen after the change was tried again. */
const attempted = ({ history }: Metadata): string => `attempted AS (
      INSERT INTO ${history} (mapping_id, record_id, change_id, at, message)
      SELECT :mapping, record_id, id, :now::timestamptz, sf_message FROM settled
      WHERE (state::text = 'FAILED' OR state::text = 'NEW' AND attempts > 0) AND sf_message IS NOT NULL
    )`;

/** Reads `counted` first, and so settles everything before any row is locked. */
const COMPLETE = `(SELECT all_of_them FROM counted) = :count AND ${KNOWN}`;

const isRowOf = ({ layout }: MappedTable) => `t.${name(layout.key)} = s.record_id AND t.xmin = s.version`;

/** The changes whose rows nothing holds; from here on we do. */
function free(mapped: MappedTable): string {
  const { schema, table } = mapped.shape;
  return `free AS MATERIALIZED (
      SELECT s.id FROM settled s JOIN ${qualified(schema, table)} t ON ${isRowOf(mapped)} WHERE ${COMPLETE}
      FOR UPDATE OF t SKIP LOCKED
    )`;
}

function written(mapped: MappedTable, skipsHeld: boolean): string {
  const table = qualified(mapped.shape.schema, mapped.shape.table);
  return `written AS (
      UPDATE ${table} t SET sfid = coalesce(s.new_sfid, t.sfid), _ab_lastop = s.last_operation, _ab_err = CASE WHEN s.state::text = 'FAILED' THEN s.sf_message END
      FROM settled s
      WHERE ${COMPLETE} AND ${isRowOf(mapped)} ${skipsHeld ? "AND s.id IN (SELECT id FROM free)" : ""}
        AND (s.new_sfid IS NULL OR t.sfid::text IS NOT DISTINCT FROM s.new_sfid
          OR NOT EXISTS (SELECT FROM ${table} other WHERE other.sfid::text = s.new_sfid))
      RETURNING s.id
    )`;
}

function counted(tables: Metadata): string {
  return `counted AS (
      SELECT count(*) FILTER (WHERE is_kept) + (SELECT count(*) FROM kept) AS all_of_them, count(*) FILTER (WHERE state::text = 'SUCCESS') AS success,
        count(*) FILTER (WHERE state::text = 'FAILED') AS failed, count(*) FILTER (WHERE was_carried) AS carried,
        (SELECT count(*) FROM (SELECT DISTINCT record_id FROM settled
          WHERE state::text = 'FAILED' AND record_id <> ALL (:failedRows::bigint[])) AS rows) AS failed_rows,
        count(*) FILTER (WHERE accepted) AS accepted,
        count(*) FILTER (WHERE row_owed) AS pending, count(*) FILTER (WHERE ${KNOWN}) AS known
      FROM settled s
    ), handled AS (
      DELETE FROM ${tables.pendingRegistry} WHERE id = ANY (:handled::text[])
    ), totals AS (
      INSERT INTO ${tables.totals} AS t (table_name, success, failed) SELECT :table, success, failed - carried FROM counted
      ON CONFLICT (table_name) DO UPDATE SET success = t.success + excluded.success, failed = t.failed + excluded.failed
    ), mapping AS (
      UPDATE ${tables.state} s SET rows_synced = s.rows_synced + counted.accepted,
        rows_failed = s.rows_failed + counted.failed, running_failed = s.running_failed + counted.failed_rows
      FROM counted WHERE s.mapping_id = :mapping
    ), events AS (
      INSERT INTO ${tables.outbox} (event, occurred_at, detail)
      SELECT 'record.failed', :now, jsonb_build_object('trigger_log_id', id, 'mapping_id', :mapping::text, 'sf_object', :object::text,
        'table_name', :table::text, 'record_id', record_id, 'sfid', sfid, 'action', action, 'error', sf_message)
      FROM settled WHERE state::text = 'FAILED' ORDER BY id
    ), pushed AS (
      INSERT INTO ${tables.pushed} (mapping_id, answered_at, sfids)
      SELECT :mapping, answered_at, array_agg(sfid) FROM settled WHERE accepted AND speaks AND sfid IS NOT NULL GROUP BY answered_at
    ), tombstones AS (
      INSERT INTO ${tables.tombstones} (mapping_id, sfid, record_id, reason, by_salesforce, stamp, deleted_at)
      SELECT :mapping, sfid, record_id, 'its row was deleted', false, answered_at, :now
      FROM settled WHERE accepted AND action::text = 'DELETE' AND speaks AND sfid IS NOT NULL
    )`;
}
