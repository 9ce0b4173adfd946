import { isThere } from "../adapters/postgres/session/session.ts";
import {
  heldText,
  literal,
  type MappedTable,
  metadata,
  name,
  qualified,
  type Session,
} from "../adapters/postgres/session/sql.ts";
import { sqlState } from "../adapters/postgres/session/sql-errors.ts";
import { BATCH_OF_ANOTHER } from "../model/change/change.ts";
import { Failure } from "../model/failure.ts";
import { isHstore, type ReadHstore, readerOfHstore } from "./hstore.ts";

/**
 * Makes the changes of a table that wait in Heroku Connect's log ours, in the caller's transaction, in their order:
 * NEW ones are sent, but those of rows that are gone and never had a record; PENDING ones were being sent when it stopped,
 * so they are in doubt; of FAILED ones, those that are still the last word on their row can be retried. In the old log
 * they are REQUEUED from then on.
 */
export async function importLog(session: Session, mapped: MappedTable, at: Date): Promise<void> {
  const { theirLog } = metadata(mapped.shape.schema);
  if (!(await isThere(session, theirLog))) return;
  await refuseUnreadable(session, mapped);
  try {
    await session.query(takeStatement(mapped, await readerOfHstore(session)), [
      mapped.shape.table,
      BATCH_OF_ANOTHER,
      at,
    ]);
  } catch (error) {
    if (!sqlState(error)?.startsWith(DATA_TROUBLE)) throw error;
    throw unreadable(mapped, error instanceof Error ? error.message : "");
  }
  await session.query(markStatement(mapped), [mapped.shape.table]);
}

/** SQLSTATE's class of values that do not fit. */
const DATA_TROUBLE = "22";

async function refuseUnreadable(session: Session, mapped: MappedTable): Promise<void> {
  const { theirLog } = metadata(mapped.shape.schema);
  const [broken] = await session.query<{ id: number }>(
    `SELECT id FROM ${theirLog} WHERE table_name::text = $1 AND state::text IN ('NEW', 'PENDING', 'FAILED', 'MERGED')
       AND NOT (${isHstore("old")} AND ${isHstore('"values"')}) ORDER BY id LIMIT 1`,
    [mapped.shape.table],
  );
  if (broken) throw unreadable(mapped, `its change ${broken.id} is not an hstore`);
}

function unreadable({ shape }: MappedTable, words: string): Failure {
  return new Failure(
    "CONFLICT",
    `${shape.schema}._hc_trigger_log holds a change of ${shape.table} that cannot be read (${words}); ` +
      "set the state of that change to IGNORED, or correct it, then save the mapping again",
  );
}

/** The state of Heroku Connect's changes of a table, and by what they know its rows. */
interface Place {
  readonly log: string;
  readonly archive: string;
  readonly table: string;
  readonly key: string;
  readonly rowsSay: boolean;
}

/**
 * A SELECT of what is still to be done of a table, $1. A failed insert or update counts while its row says so. A NEW
 * change of a row that was deleted before it had a record does not count; where the row's insert is PENDING, the delete
 * counts, which Heroku Connect ignores. MERGED changes behind a PENDING one travelled with it.
 */
export function stillToDo({ log, archive, table, key, rowsSay }: Place): string {
  const row = `SELECT FROM ${table} t WHERE t.${name(key)} = f.record_id`;
  const says = rowsSay ? " AND t._hc_lastop::text = 'FAILED'" : "";
  const columns = (state: string) =>
    `f.id, txid, created_at, updated_at, processed_at, ${state} AS state, action, f.record_id, sfid, old, "values", sf_message`;
  const failed = (from: string) => `
      SELECT ${columns("state::text")} FROM ${from} f WHERE table_name::text = $1 AND state::text = 'FAILED'
        AND CASE WHEN action::text = 'DELETE' THEN NOT EXISTS (${row}) ELSE EXISTS (${row}${says}) END
        AND NOT EXISTS (${later(log)}) AND NOT EXISTS (${later(archive)})`;
  const open = `SELECT record_id, id, state::text AS state FROM ${log} WHERE table_name::text = $1 AND state::text IN ('NEW', 'PENDING')`;
  const sent = `(SELECT record_id, min(id) AS id FROM (${open}) AS o WHERE state = 'PENDING' GROUP BY record_id) AS sent`;
  const dead = (from: string) =>
    `SELECT record_id, id FROM ${from} WHERE ${DEAD} AND record_id IN (SELECT record_id FROM (${open}) AS o)`;
  return `
      SELECT ${columns("state::text")} FROM ${log} f
      LEFT JOIN (SELECT record_id, max(id) AS id FROM (${dead(log)} UNION ALL ${dead(archive)}) AS d GROUP BY record_id) AS dead
        ON dead.record_id = f.record_id AND dead.id > f.id
      LEFT JOIN ${sent} ON sent.record_id = f.record_id
      WHERE table_name::text = $1 AND state::text IN ('NEW', 'PENDING') AND (dead.id IS NULL OR sent.id IS NOT NULL)
      UNION ALL SELECT ${columns("CASE state::text WHEN 'MERGED' THEN 'PENDING' ELSE 'NEW' END")}
      FROM ${log} f JOIN ${sent} ON sent.record_id = f.record_id AND sent.id < f.id
      WHERE table_name::text = $1 AND (state::text = 'MERGED' OR ${DEAD})
      UNION ALL ${failed(log)} UNION ALL ${failed(archive)}`;
}

/** The delete of a row that had no record when it was captured. */
const DEAD =
  "table_name::text = $1 AND action::text = 'DELETE' AND state::text IN ('IGNORE', 'IGNORED') AND sfid IS NULL";

const later = (from: string) =>
  `SELECT FROM ${from} s WHERE s.table_name::text = f.table_name::text AND s.record_id = f.record_id AND s.state::text = 'SUCCESS' AND s.id > f.id`;

/** One statement, so that the same changes are imported and marked. An update of nothing mapped is ignored. */
function takeStatement(mapped: MappedTable, read: ReadHstore): string {
  const { schema, table } = mapped.shape;
  const { log, pendingRegistry, totals, theirLog, theirArchive } = metadata(schema);
  const place = { log: theirLog, archive: theirArchive, table: qualified(schema, table), key: mapped.layout.key };
  return `
    WITH open AS MATERIALIZED (${stillToDo({ ...place, rowsSay: "_hc_lastop" in mapped.layout.types })}
    ), read AS MATERIALIZED (
      SELECT id, txid, created_at, updated_at, processed_at, state, action, record_id, sfid, sf_message,
        ${read("old")} AS old, ${read('"values"')} AS "values" FROM open
    ), meant AS MATERIALIZED (
      SELECT read.*, CASE action::text WHEN 'INSERT' THEN NULL WHEN 'UPDATE' THEN ${mappedOnly(mapped, "old", '"values"')}
          ELSE ${mappedOnly(mapped, "old", "old")} END AS was,
        CASE WHEN action::text <> 'DELETE' THEN ${mappedOnly(mapped, '"values"', '"values"')} END AS becomes
      FROM read
    ), imported AS (
      INSERT INTO ${log} (txid, created_at, updated_at, processed_at, state, action, table_name, record_id, sfid, old,
        "values", sf_result, sf_message, last_operation, fence, batch_id, sent_at)
      SELECT txid, created_at, updated_at, CASE WHEN state::text = 'FAILED' THEN coalesce(processed_at, updated_at, created_at) END,
        state, action, $1::varchar, record_id, sfid, was, becomes, CASE WHEN state::text = 'FAILED' THEN 0 END, sf_message,
        CASE WHEN state::text = 'FAILED' THEN 'FAILED' END, CASE WHEN state::text = 'PENDING' THEN 0 END,
        CASE WHEN state::text = 'PENDING' THEN $2::text END, CASE WHEN state::text = 'PENDING' THEN $3::timestamptz END
      FROM meant WHERE action::text <> 'UPDATE' OR becomes <> '{}' ORDER BY id
      RETURNING id, state
    ), in_hand AS (
      INSERT INTO ${pendingRegistry} (id, table_name, ids)
      SELECT gen_random_uuid()::text, $1::varchar, array_agg(id) FROM imported WHERE state::text = 'PENDING' HAVING count(*) > 0
    ), marked AS (
      UPDATE ${theirLog} l SET state = CASE WHEN m.action::text = 'UPDATE' AND m.becomes = '{}' THEN 'IGNORED' ELSE 'REQUEUED' END,
        processed_at = $3
      FROM meant m WHERE l.id = m.id
    ), dropped AS (
      UPDATE ${theirLog} l SET state = 'IGNORED', processed_at = $3
      WHERE table_name::text = $1 AND state::text = 'NEW' AND NOT EXISTS (SELECT FROM open o WHERE o.id = l.id)
    ), marked_too AS (
      UPDATE ${theirArchive} l SET state = 'REQUEUED' FROM meant m WHERE l.id = m.id
    )
    INSERT INTO ${totals} AS t (table_name, failed) SELECT $1::varchar, count(*) FROM imported WHERE state::text = 'FAILED'
    ON CONFLICT (table_name) DO UPDATE SET failed = t.failed + excluded.failed`;
}

/** The mapped columns among these keys, as the columns give them back: Heroku Connect logs what its own session showed. */
function mappedOnly({ shape, layout }: MappedTable, texts: string, keys: string): string {
  const columns = shape.columns.map(({ column }) => column);
  if (columns.length === 0) return "'{}'::jsonb";
  const names = columns.map(literal).join(", ");
  const values = columns.map((column) => heldText(layout, column, `(${texts} ->> ${literal(column)})`)).join(", ");
  return `(SELECT coalesce(jsonb_object_agg(pair.key, pair.value), '{}')
          FROM jsonb_each(jsonb_object(ARRAY[${names}], ARRAY[${values}])) AS pair WHERE ${keys} ? pair.key AND ${texts} IS NOT NULL)`;
}

/** Rows say in our columns what they said in Heroku Connect's. */
function markStatement({ shape, layout }: MappedTable): string {
  const { log } = metadata(shape.schema);
  return `
    WITH last AS (
      SELECT record_id, bool_or(processed_at IS NULL) AS waits, (array_agg(sf_message ORDER BY id DESC))[1] AS message
      FROM ${log} WHERE table_name::text = $1 AND (processed_at IS NULL OR last_operation::text = 'FAILED') GROUP BY record_id
    )
    UPDATE ${qualified(shape.schema, shape.table)} t
    SET _ab_lastop = CASE WHEN last.waits THEN 'PENDING' ELSE 'FAILED' END, _ab_err = CASE WHEN NOT last.waits THEN last.message END
    FROM last WHERE t.${name(layout.key)} = last.record_id`;
}
