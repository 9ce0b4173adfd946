import { WriteUndone } from "../../../sync/ports/lease-ports.ts";
import { wholeRow } from "../capture/trigger-functions.ts";
import { hasFailed, isRecordless } from "../log/change-states.ts";
import type { KeptSession } from "../session/request-session.ts";
import {
  literal,
  type MappedTable,
  type Metadata,
  mappedOf,
  metadata,
  name,
  qualified,
  type Session,
} from "../session/sql.ts";
import { unlessUnprovisioned } from "../session/sql-errors.ts";
import { givingWay } from "./migrate.ts";

/** Captures rows without a record, as if they were inserted now; those that wait or failed already are left. */
export async function captureExisting(
  kept: KeptSession,
  schema: string,
  mappingId: string,
  limit: number,
): Promise<number> {
  const { state, log } = metadata(schema);
  const [row] = await unlessUnprovisioned(
    kept.query(`SELECT shape, layout FROM ${state} WHERE mapping_id = $1`, [mappingId]),
  );
  if (!row) return 0;
  // A transaction of its own, whose zone and date style are those in which values are logged.
  const statement = captureStatement(log, mappedOf(row), limit);
  return await kept.transaction({}, statement, async (_, captured) => captured.length);
}

function captureStatement(log: string, { shape, layout }: MappedTable, limit: number): string {
  const key = `t.${name(layout.key)}`;
  const columns = shape.columns.map(({ column }) => column);
  return `
    INSERT INTO ${log} (action, table_name, record_id, sfid, old, "values")
    SELECT 'INSERT', ${literal(shape.table)}, ${key}, NULL, NULL, ${wholeRow(columns, layout, "t")}
    FROM ${qualified(shape.schema, shape.table)} t
    WHERE t.sfid IS NULL AND ${isNotInLog(log, shape.table, key)}
    ORDER BY ${key} LIMIT ${limit}
    RETURNING id`;
}

/** While rows are captured by `mapping capture --mine` no cycle begins; a worker that died is waited for this long. */
const CAPTURING = "clock_timestamp() + interval '5 minutes'";

/**
 * Marks a mapping's rows to be captured as changed, all of them, by `captureNext`, and takes both leases. Parameter: the
 * mapping. The mark is a key of the shape, `capturing`: the last row that was captured.
 */
export const captureAllOf = ({ state, loads }: Metadata): string => `
  WITH marked AS (
    UPDATE ${state} SET shape = shape || '{"capturing": null}', fence = fence + 1, lease_owner = 'mapping capture',
      lease_until = ${CAPTURING}
    WHERE mapping_id = $1 RETURNING mapping_id
  )
  UPDATE ${loads} l SET fence = l.fence + 1, lease_owner = 'mapping capture', lease_until = ${CAPTURING}
  FROM marked WHERE l.mapping_id = marked.mapping_id RETURNING l.mapping_id`;

/** The application waits for one such piece to write a row of it: less than a tenth of a second. */
const ROWS_AT_ONCE = 1_000;

/**
 * Captures the next rows of a mapping whose rows are marked, as changed in every mapped column; false once none is
 * left. Capture must be on. Rows stay locked until the commit, so what is captured of a row later has the later id. The
 * watermark `slow` is set back, so that Salesforce is read to the end before any of them is sent.
 */
export async function captureNext(session: Session, schema: string, mappingId: string): Promise<boolean> {
  const { state, loads, log } = metadata(schema);
  // Both rows before any of the table, as cycles lock them.
  const mark = `SELECT s.shape, s.layout FROM ${state} s JOIN ${loads} l ON l.mapping_id = s.mapping_id
    WHERE s.mapping_id = ${literal(mappingId)} AND s.shape ? 'capturing' FOR NO KEY UPDATE`;
  return await givingWay(session, mark, async ([row]) => {
    if (!row) return false;
    const { capturing } = row["shape"] as { readonly capturing: number | null };
    const [captured] = await session.query<{ last: number | null }>(captureRowsStatement(log, mappedOf(row)), [
      capturing,
    ]);
    const last = captured?.last ?? null;
    const [kept] = await session.query(
      `WITH leases AS (UPDATE ${loads} SET lease_until = CASE WHEN $2::bigint IS NOT NULL THEN ${CAPTURING} END WHERE mapping_id = $1)
         UPDATE ${state} SET lease_until = CASE WHEN $2::bigint IS NOT NULL THEN ${CAPTURING} END,
           slow = NULL, lanes = lanes - 'late'::text, shape = shape - 'capturing'::text || CASE WHEN $2::bigint IS NULL THEN '{}' ELSE jsonb_build_object('capturing', $2::bigint) END
         WHERE mapping_id = $1 RETURNING shape -> 'capturing' AS capturing`,
      [mappingId, last],
    );
    // The same rows would be captured again and again.
    if (!kept || kept["capturing"] !== last) throw new WriteUndone(state);
    return last !== null;
  });
}

/** Without an old side, which is unknown. A row that has no record is captured once, as by `captureStatement`. */
function captureRowsStatement(log: string, { shape, layout }: MappedTable): string {
  const key = name(layout.key);
  const columns = shape.columns.map(({ column }) => column);
  return `
    WITH rows AS MATERIALIZED (
      SELECT t.* FROM ${qualified(shape.schema, shape.table)} t
      WHERE t.${key} > coalesce($1::bigint, -9223372036854775808) ORDER BY t.${key} LIMIT ${ROWS_AT_ONCE} FOR NO KEY UPDATE
    ), captured AS (
      INSERT INTO ${log} (action, table_name, record_id, sfid, old, "values")
      SELECT CASE WHEN t.sfid IS NULL THEN 'INSERT' ELSE 'UPDATE' END, ${literal(shape.table)}, t.${key}, t.sfid,
        CASE WHEN t.sfid IS NOT NULL THEN '{}'::jsonb END, ${wholeRow(columns, layout, "t")}
      FROM rows t WHERE t.sfid IS NOT NULL OR ${isNotInLog(log, shape.table, `t.${key}`)} ORDER BY t.${key}
    )
    SELECT max(${key}) AS last FROM rows`;
}

/**
 * Where capture was off: captures what it missed of rows whose insert waits or has failed, which is how they differ from
 * what will be sent. Their records are not there to be read again.
 */
export async function captureUnsent(session: Session, { shape, layout }: MappedTable, wasOff: boolean): Promise<void> {
  if (!wasOff) return;
  const { log } = metadata(shape.schema);
  const key = name(layout.key);
  const columns = shape.columns.map(({ column }) => column);
  await session.query(`
    INSERT INTO ${log} (action, table_name, record_id, old, "values")
    SELECT 'UPDATE', ${literal(shape.table)}, t.${key}, unseen.old, unseen.now
    FROM ${qualified(shape.schema, shape.table)} t, LATERAL (
      SELECT jsonb_object_agg(logged.key, logged.value ORDER BY l.id) AS "values"
      FROM ${log} l, jsonb_each_text(l."values") logged WHERE ${isInLog("l", shape.table, `t.${key}`)}
    ) sent, LATERAL (
      SELECT jsonb_object_agg(key, sent."values" -> key) AS old, jsonb_object_agg(key, value) AS now
      FROM jsonb_each(${wholeRow(columns, layout, "t")}) WHERE sent."values" -> key <> value
    ) unseen
    WHERE t.sfid IS NULL AND unseen.now IS NOT NULL ORDER BY t.${key}`);
}

/** Whether no change of a row waits or has failed, but such as wait for their row to be sent. */
const isNotInLog = (log: string, table: string, key: string): string =>
  `NOT EXISTS (SELECT FROM ${log} l WHERE ${isInLog("l", table, key)})`;

const isInLog = (alias: string, table: string, key: string): string =>
  `${alias}.table_name::text = ${literal(table)} AND ${alias}.record_id = ${key}
        AND (${alias}.processed_at IS NULL AND NOT (${isRecordless(alias)}) OR ${hasFailed(alias)})`;
