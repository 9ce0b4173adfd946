import { pulls } from "../../../model/mapping/mapping.ts";
import { GONE, UNDELETE_NOTE } from "../../../model/record/restore-row.ts";
import type { Rejected, Rejections, StayingDelete } from "../../../settings/held-deletes/reject-ports.ts";
import { wholeRow } from "../capture/trigger-functions.ts";
import { BEGINNING, hasFailed, isHeld, isOfTable } from "../log/change-states.ts";
import { type Held, insertAgain } from "../log/insert-again.ts";
import type { KeptSession } from "../session/request-session.ts";
import { refusalOf } from "../session/savepoint.ts";
import {
  literal,
  type MappedTable,
  type Metadata,
  mappedOf,
  metadata,
  name,
  numberArray,
  OWN_COLUMNS,
  qualified,
  type Session,
} from "../session/sql.ts";
import { messageOf, unlessUnprovisioned } from "../session/sql-errors.ts";

/** An operator's no to held deletes, in a customer's database. */
export function rejections(kept: KeptSession, schema: string, now: () => Date): Rejections {
  const tables = metadata(schema);
  const mappedTable = async (mappingId: string): Promise<MappedTable | null> => {
    const asked = kept.query(`SELECT shape, layout FROM ${tables.state} WHERE mapping_id = $1`, [mappingId]);
    const [row] = await unlessUnprovisioned(asked);
    return row ? mappedOf(row) : null;
  };
  /** Uncaptured, and behind the mapping's cycle. */
  const silently = <T>({ shape }: MappedTable, work: (session: Session) => Promise<T>): Promise<T> => {
    const lock = `SELECT FROM ${tables.state} WHERE mapping_id = ${literal(shape.mappingId)} FOR NO KEY UPDATE`;
    return kept.transaction({ silence: shape.table }, lock, work);
  };

  return {
    forecastReject: async (mappingId, only) => {
      const mapped = await mappedTable(mappingId);
      if (!mapped) return { rows: 0, records: 0, gone: 0, lostColumns: [], lostChildren: [] };
      const known = [mapped.layout.key, ...Object.keys(OWN_COLUMNS), ...mapped.shape.columns.map((one) => one.column)];
      const table = qualified(mapped.shape.schema, mapped.shape.table);
      const [row] = await kept.query(forecast(tables), {
        ...{ mapping: mappingId, table: mapped.shape.table, on: table, known },
        ...{ logIds: only?.logIds ?? null, sfids: only?.sfids ?? null },
      });
      return {
        rows: Number(row?.["rows"] ?? 0),
        records: Number(row?.["records"] ?? 0),
        gone: Number(row?.["gone"] ?? 0),
        lostColumns: (row?.["columns"] ?? []) as string[],
        lostChildren: (row?.["children"] ?? []) as string[],
      };
    },

    putBackRows: async (mappingId, after, limit, only) => {
      const mapped = await mappedTable(mappingId);
      if (!mapped) return { done: 0, staying: [], last: null };
      return silently(mapped, async (session) => {
        const held = await session.query<Held>(heldRows(tables), [
          mapped.shape.table,
          after ?? BEGINNING,
          limit,
          only?.logIds ?? null,
        ]);
        // Before any row, as cycles lock them.
        await session.query(`SELECT FROM ${tables.totals} WHERE table_name::text = $1 FOR NO KEY UPDATE`, [
          mapped.shape.table,
        ]);
        const staying = await insertAgain(session, tables.log, mapped, held);
        const stays = new Set(staying.map(({ recordId }) => recordId));
        const back = held.filter((one) => !stays.has(Number(one.record_id)));
        await settleRejected(session, tables, mapped, back, now());
        const last = held.length < limit ? null : Number(held.at(-1)?.id);
        return { done: back.length, staying, last };
      });
    },

    takeBackDelete: async (mappingId, changeId) => {
      const mapped = await mappedTable(mappingId);
      if (!mapped) return GONE_ON;
      return silently(mapped, async (session) => {
        const one = await session.query<Held>(
          `SELECT id, record_id, sfid FROM ${tables.log} WHERE id = $1 AND table_name::text = $2 AND action::text = 'DELETE'
             AND state::text = 'NEW' FOR NO KEY UPDATE`,
          [changeId, mapped.shape.table],
        );
        if (one.length === 0) return GONE_ON;
        await session.query(`SELECT FROM ${tables.totals} WHERE table_name::text = $1 FOR NO KEY UPDATE`, [
          mapped.shape.table,
        ]);
        const [stays] = await insertAgain(session, tables.log, mapped, one);
        if (stays) return stays.reason;
        await settleRejected(session, tables, mapped, one, now());
        return null;
      });
    },

    restoreLater: async (mappingId, { sfid, recordId, note }) => {
      // Else the row's next change would carry a delete that Salesforce refused, and send it again.
      await kept.query(
        `WITH given_up AS (
           UPDATE ${tables.log} l SET superseded = true FROM ${tables.state} s
           WHERE s.mapping_id = :mapping AND l.table_name::text = s.table_name::text AND l.record_id = :record::bigint
             AND l.action::text = 'DELETE' AND l.state::text = 'FAILED' AND l.processed_at IS NOT NULL AND NOT l.superseded
         )
         INSERT INTO ${tables.inboundErrors} (mapping_id, sfid, error, retry_at, first_at, last_at)
         VALUES (:mapping, :sfid, :note, :now, :now, :now)
         ON CONFLICT (mapping_id, sfid) DO UPDATE SET error = excluded.error, sqlstate = NULL, retry_at = excluded.retry_at`,
        { mapping: mappingId, sfid, record: recordId, note, now: now() },
      );
    },

    undeleteLater: async (mappingId, only) => {
      const asked = kept.query(
        `WITH noted AS (
           INSERT INTO ${tables.inboundErrors} (mapping_id, sfid, error, retry_at, first_at, last_at)
           SELECT h.mapping_id, h.sfid, :note, :now, :now, :now FROM ${heldRecords(tables)} AND NOT ${isGone(tables)}
           ON CONFLICT (mapping_id, sfid) DO UPDATE SET error = excluded.error, sqlstate = NULL, retry_at = excluded.retry_at
           RETURNING 1
         )
         SELECT count(*) AS records FROM noted`,
        { mapping: mappingId, sfids: only?.sfids ?? null, note: UNDELETE_NOTE, now: now() },
      );
      return Number((await unlessUnprovisioned(asked))[0]?.["records"] ?? 0);
    },

    captureAsNew: async (mappingId, only) => {
      const mapped = await mappedTable(mappingId);
      if (!mapped) return { done: 0, staying: [] };
      return silently(mapped, async (session) => {
        const gone = await session.query<{ sfid: string }>(
          `SELECT h.sfid FROM ${heldRecords(tables)} AND ${isGone(tables)} ORDER BY h.sfid LIMIT ${RECORDS_AT_ONCE}`,
          { mapping: mappingId, sfids: only?.sfids ?? null },
        );
        const sfids = gone.map(({ sfid }) => sfid);
        return captureAsNew(session, tables, mapped, sfids);
      });
    },
  };
}

const GONE_ON = "its delete is not waiting any more";

/** Records of one call that are created again. */
const RECORDS_AT_ONCE = 10_000;

/** A FROM clause: records of `:mapping` whose deletes are held, of `:sfids` unless that is null. */
const heldRecords = ({ heldDeletes }: Metadata): string =>
  `${heldDeletes} h WHERE h.mapping_id = :mapping AND NOT h.confirmed AND (:sfids::text[] IS NULL OR h.sfid::text = ANY (:sfids))`;

/** A condition: a cycle has found `h` gone for good. */
const isGone = ({ inboundErrors }: Metadata): string =>
  `EXISTS (SELECT FROM ${inboundErrors} e WHERE e.mapping_id = h.mapping_id AND e.sfid::text = h.sfid::text AND strpos(e.error, ${literal(GONE)}) > 0)`;

/** Held deletes of rows. Parameters: table, after which id, how many, which of them. */
const heldRows = ({ log }: Metadata): string => `
  SELECT l.id, l.record_id, l.sfid FROM ${log} l
  WHERE ${isOfTable("l", "$1")} AND ${isHeld("l")} AND l.id > $2 AND ($4::bigint[] IS NULL OR l.id = ANY ($4))
  ORDER BY l.table_name, l.id LIMIT $3 FOR NO KEY UPDATE`;

/** `:known` are the columns that come back; `:logIds` and `:sfids` choose among the deletes of rows and of records. */
const forecast = (tables: Metadata): string => `
  SELECT (SELECT count(*) FROM ${tables.log} l WHERE ${isOfTable("l", ":table")} AND ${isHeld("l")}
      AND (:logIds::bigint[] IS NULL OR l.id = ANY (:logIds))) AS rows,
    (SELECT count(*) FROM ${heldRecords(tables)} AND NOT ${isGone(tables)}) AS records,
    (SELECT count(*) FROM ${heldRecords(tables)} AND ${isGone(tables)}) AS gone,
    (SELECT json_agg(attname ORDER BY attnum) FROM pg_attribute WHERE attrelid = to_regclass(:on)::oid AND attnum > 0
      AND NOT attisdropped AND attgenerated = '' AND attname <> ALL (:known::text[])) AS columns,
    (SELECT json_agg(DISTINCT conrelid::regclass::text) FROM pg_constraint WHERE confrelid = to_regclass(:on)::oid
      AND contype = 'f' AND conparentid = 0 AND confdeltype IN ('c', 'n', 'd')) AS children`;

const REJECTED = "REJECTED: the delete was rejected before it was sent; its row was inserted again";

/** The deletes end without a save, and the records are read again, for they may have changed since. */
async function settleRejected(
  session: Session,
  tables: Metadata,
  { shape }: MappedTable,
  back: readonly Held[],
  at: Date,
): Promise<void> {
  if (back.length === 0) return;
  await session.query(
    `WITH rejected AS (
       UPDATE ${tables.log} SET state = 'SUCCESS', last_operation = 'SYNCED', held = false, sf_message = :message,
         updated_at = :now, processed_at = :now, processed_tx = txid_current()
       WHERE id = ANY (:ids::bigint[]) RETURNING sfid
     ), totals AS (
       INSERT INTO ${tables.totals} AS t (table_name, success) SELECT :table, count(*) FROM rejected
       ON CONFLICT (table_name) DO UPDATE SET success = t.success + excluded.success
     )
     INSERT INTO ${tables.inboundErrors} (mapping_id, sfid, error, retry_at, first_at, last_at)
     SELECT :mapping, sfid, 'the delete of its row was rejected; the record is read again', :now, :now, :now FROM rejected WHERE :pulls AND sfid IS NOT NULL
     ON CONFLICT (mapping_id, sfid) DO UPDATE SET retry_at = excluded.retry_at`,
    {
      ...{ ids: numberArray(back.map(({ id }) => id)), message: REJECTED, now: at },
      ...{ table: shape.table, mapping: shape.mappingId, pulls: pulls(shape.direction) },
    },
  );
}

/** One whose change still waits stays: it would go to the record that is gone. What has failed is in the row. */
async function captureAsNew(
  session: Session,
  { log, heldDeletes, inboundErrors }: Metadata,
  { shape, layout }: MappedTable,
  sfids: readonly string[],
): Promise<Rejected> {
  const table = qualified(shape.schema, shape.table);
  const key = name(layout.key);
  const columns = shape.columns.map(({ column }) => column);
  const statement = `
    WITH rows AS MATERIALIZED (
      SELECT t.${key} AS key, t.sfid, ${wholeRow(columns, layout, "t")} AS "values", EXISTS (
        SELECT FROM ${log} l WHERE l.table_name::text = $2 AND l.record_id = t.${key} AND l.processed_at IS NULL) AS waits
      FROM ${table} t WHERE t.sfid::text = ANY ($1::text[]) ORDER BY t.${key} FOR NO KEY UPDATE
    ), overruled AS (
      UPDATE ${log} l SET superseded = true FROM rows r
      WHERE NOT r.waits AND l.table_name::text = $2 AND l.record_id = r.key AND ${hasFailed("l")} AND NOT l.superseded
    ), captured AS (
      INSERT INTO ${log} (action, table_name, record_id, sfid, old, "values")
      SELECT 'INSERT', $2, key, NULL, NULL, "values" FROM rows WHERE NOT waits ORDER BY key
    ), freed AS (
      UPDATE ${table} t SET sfid = NULL, systemmodstamp = NULL, _ab_lastop = 'PENDING', _ab_err = NULL
      FROM rows r WHERE t.${key} = r.key AND NOT r.waits
    ), let_go AS (
      DELETE FROM ${heldDeletes} WHERE mapping_id = $3 AND NOT confirmed AND sfid::text = ANY ($1::text[])
        AND sfid::text <> ALL (ARRAY(SELECT sfid::text FROM rows WHERE waits))
      RETURNING sfid
    ), forgotten AS (
      DELETE FROM ${inboundErrors} e USING let_go WHERE e.mapping_id = $3 AND e.sfid::text = let_go.sfid::text
    )
    SELECT key, sfid, waits FROM rows`;
  let rows: readonly { readonly key: number; readonly sfid: string; readonly waits: boolean }[] = [];
  const refusal = await refusalOf(session, async () => {
    rows = await session.query(statement, [sfids, shape.table, shape.mappingId]);
  });
  const stay = (sfid: string, recordId: number | null, reason: string): StayingDelete =>
    ({ deletes: "row", sfid, recordId, reason }) as const;
  if (refusal !== null) return { done: 0, staying: sfids.map((sfid) => stay(sfid, null, messageOf(refusal))) };
  const waiting = rows.filter(({ waits }) => waits);
  return {
    done: rows.length - waiting.length,
    staying: waiting.map((row) => stay(row.sfid, Number(row.key), WAITS)),
  };
}

const WAITS = "a change of its row waits to be sent; reject the delete again once that has ended";
