import * as z from "zod/mini";
import { REPORTED_AFTER_SECONDS } from "../../../model/change/missing-parent.ts";
import { typeInstead } from "../../../model/mapping/unfit-column.ts";
import { longId } from "../../../model/record/long-id.ts";
import { NOT_RESTORED, RESTORE } from "../../../model/record/restore-row.ts";
import { toCamelCase } from "../../../model/snake-case.ts";
import { judgedCalls, judgedCount } from "../../../model/totals.ts";
import type { PostgresConnection } from "../../../model/workspace/workspace.ts";
import type { SilentDatabases } from "../../../monitoring/ports.ts";
import { heldDelete } from "../../../settings/held-deletes/reject-ports.ts";
import {
  conflict,
  failedRow,
  failureKind,
  inboundError,
  type MappingProgress,
  mappingProgress,
  type RowQueries,
  type RowQueriesOf,
} from "../../../settings/row-ports.ts";
import { type LoadCheckpoint, UNSTARTED } from "../../../sync/ports/load-ports.ts";
import { isHeld, isOfTable, isRecordless, lagOf, waitsForParent } from "../log/change-states.ts";
import { beginDryRun, confirmDryRun, readDryRun } from "../pull/dry-run.ts";
import { captureAllOf, captureExisting } from "../schema/capture-existing.ts";
import { readProposals } from "../schema/propose.ts";
import { type KeptSession, type KeptSessions, keepSessions } from "../session/request-session.ts";
import { type Ask, cut, iso, literal, type Metadata, metadata, nameOf, qualified, type Row } from "../session/sql.ts";
import { unlessUnprovisioned } from "../session/sql-errors.ts";
import { browseRows } from "./browse-rows.ts";
import { CONFLICT_COLUMNS, readChange, readThroughput } from "./change-history.ts";
import { dismissStatement, failedOf, failedRows, failureKinds, findFailed } from "./failed-changes.ts";
import { confirmDeletes, retryFailed, useOtherValue } from "./operations.ts";
import { rejections } from "./reject-deletes.ts";
import { restoredRows } from "./restored-rows.ts";
import { readStory } from "./row-story.ts";
import { writeRow } from "./write-row.ts";

/** Customers' databases as the settings area asks them about rows; `now` ages the connections that are kept. */
export function rowQueriesOf(now: () => Date, silent?: SilentDatabases): RowQueriesOf {
  const sessions: KeptSessions = keepSessions(now, silent);
  return { open: async (connection) => rowQueriesOn(sessions.take(connection), connection, now) };
}

function rowQueriesOn(kept: KeptSession, connection: PostgresConnection, now: () => Date): RowQueries {
  const { schema } = connection;
  const tables = metadata(schema);
  const ask: Ask = (text, values = []) => unlessUnprovisioned(kept.query(text, values));
  const tableOf = async (mappingId: string): Promise<string | null> => {
    const [state] = await ask(`SELECT table_name FROM ${tables.state} WHERE mapping_id = $1`, [mappingId]);
    const table = String(state?.["table_name"] ?? "");
    return table === "" ? null : qualified(schema, table);
  };

  return {
    propose: (migrations) => readProposals(kept, connection, migrations),

    progress: async () =>
      (await ask(progressOf(tables), [now()])).map((row) => ({
        ...toCamelCase(mappingProgress, row),
        ...{ rowsSynced: judgedCount(row["rows_synced"]), apiCalls: judgedCalls(row["api_calls"]) },
        ...{ lacking: judgedNames(row["lacking"]), unfit: judgedUnfit(row["unfit"]) },
      })),

    lag: async (mappingId) => {
      const lag = lagOf(tables, `(SELECT table_name FROM ${tables.state} WHERE mapping_id = $1)`, 1000);
      const [row] = await ask(`SELECT to_json(lag) AS seconds FROM (${lag}) AS latest`, [mappingId]);
      const [p50, p95] = (row?.["seconds"] ?? []) as number[];
      return p50 === undefined || p95 === undefined ? null : { p50, p95 };
    },

    ...restoredRows(ask, tables),
    throughput: (span) => readThroughput(ask, tables, span),
    change: (id) => readChange(ask, tables, id),
    story: (mappingId, key) => readStory(ask, tables, mappingId, key),

    browse: (mappingId, asked) => browseRows(kept, schema, mappingId, asked),
    writeRow: (mappingId, asked) => writeRow(kept, schema, mappingId, asked),

    countRows: async (mappingId) => {
      const table = await tableOf(mappingId);
      if (table === null) return 0;
      const [row] = await ask(`SELECT count(*) AS rows FROM (SELECT FROM ${table} LIMIT 1000000) AS counted`);
      return Number(row?.["rows"] ?? 0);
    },

    failures: async (table) => (await ask(failureKinds(tables), [table])).map((row) => toCamelCase(failureKind, row)),

    findFailed: (which, limit) => findFailed(ask, tables, which, limit),
    failedRows: async (fingerprint) =>
      (await ask(failedRows(tables), [fingerprint])).map((row) => toCamelCase(failedRow, row)),
    retry: (mappingId, logIds) => retryFailed(kept, schema, mappingId, logIds),
    dismiss: async (mappingId, logIds) => (await ask(dismissStatement(tables), [mappingId, logIds])).length,

    retryInbound: async (mappingId, sfid) =>
      (
        await ask(
          `UPDATE ${tables.inboundErrors} SET retry_at = last_at, attempts = CASE WHEN ${isRefusedRestore} THEN 1 ELSE attempts END,
             error = CASE WHEN ${isRefusedRestore} THEN ${literal(`${RESTORE}: `)} || error ELSE error END
           WHERE mapping_id = $1 AND ($2::text IS NULL OR sfid::text = $2) RETURNING sfid`,
          [mappingId, sfid && longId(sfid)],
        )
      ).length,

    inboundErrors: async (mappingId, { limit, offset }) =>
      readPage(await ask(inboundErrorsOf(tables), [mappingId, limit, offset]), (row) => toCamelCase(inboundError, row)),

    conflicts: async (mappingId, { limit, offset }) =>
      readPage(await ask(conflictsOf(tables), [mappingId, limit, offset]), (row) => toCamelCase(conflict, row)),

    conflict: async (id) => {
      const [row] = await ask(`SELECT mapping_id, field FROM ${tables.conflicts} WHERE id = $1`, [id]);
      return row ? { mappingId: String(row["mapping_id"]), field: row["field"] as string | null } : null;
    },
    comparedIds: async (mappingId) => {
      const [row] = await ask(`SELECT compared -> 'ids' AS ids FROM ${tables.state} WHERE mapping_id = $1`, [
        mappingId,
      ]);
      return judgedNames(row?.["ids"]);
    },
    useOtherValue: (id) => useOtherValue(kept, schema, id),

    heldDeletes: async (mappingId, { limit, offset }) => {
      const table = await tableOf(mappingId);
      const rows = table === null ? [] : await ask(heldDeletesOf(tables, table), [mappingId, limit, offset]);
      return readPage(rows, (row) => toCamelCase(heldDelete, row));
    },

    confirmDeletes: async (mappingId, most, only) =>
      (await tableOf(mappingId)) === null ? 0 : confirmDeletes(kept, schema, mappingId, most, only),

    recentDeletes: async (mappingId) => {
      const [row] = await ask(
        `SELECT count(*) AS deletes FROM ${tables.tombstones}
         WHERE mapping_id = $1 AND deleted_at > $2::timestamptz - interval '1 hour'`,
        [mappingId, now()],
      );
      return Number(row?.["deletes"] ?? 0);
    },

    ...rejections(kept, schema, now),

    startOver: async (mappingId) => (await ask(startOverOf(tables), [mappingId])).length > 0,

    captureAll: async (mappingId) => (await ask(captureAllOf(tables), [mappingId])).length > 0,

    dryRun: (mappingId) => readDryRun(ask, tables, mappingId),
    startDryRun: (mappingId, run) => beginDryRun(ask, tables, mappingId, run),
    confirmDryRun: (mappingId, digest) => confirmDryRun(ask, tables, mappingId, digest),

    captureExisting: (mappingId, limit) => captureExisting(kept, schema, mappingId, limit),
  };
}

/** What a shape in a customer's database says, if it is one. */
const judgedNames = (lacking: unknown): string[] => z.array(z.string()).safeParse(lacking).data ?? [];

function judgedUnfit(columns: unknown): MappingProgress["unfit"] {
  const field = z.object({
    column: z.string(),
    type: z.string(),
    length: z.number(),
    precision: z.number(),
    scale: z.number(),
  });
  const found = z.array(z.object({ is: z.string(), field })).safeParse(columns).data ?? [];
  return found.flatMap(({ is, field }) => {
    const should = typeInstead(field, is);
    return should === null ? [] : [{ column: field.column, is, should }];
  });
}

const progressOf = (tables: Metadata): string => `
  SELECT s.mapping_id, s.position IS NOT NULL AS loaded,
    lo.load ->> 'kind' AS reading, lo.load -> 'records' AS records_to_read,
    coalesce((lo.load ->> 'read')::bigint, 0) AS records_read, lo.load ->> 'readSince' AS reading_since,
    coalesce(lo.load -> 'size', s.lanes -> 'size') AS read_size,
    s.lanes -> 'back' ->> 'stamp' AS clock_back_until, ${iso("s.last_pull_at")} AS last_pull_at,
    ${iso("s.last_run_at")} AS last_run_at, s.rows_synced, s.api_calls,
    s.compared - 'ids'::text AS compared,
    waiting.count AS waiting,
    (SELECT ${iso("l.created_at")} FROM ${tables.log} l WHERE l.id = waiting.oldest) AS oldest_waiting_at,
    ${failedOf(tables, "s")} AS failed,
    (SELECT count(*) FROM ${tables.heldDeletes} h WHERE h.mapping_id = s.mapping_id AND NOT h.confirmed)
      + (SELECT count(*) FROM ${tables.log} l WHERE ${isOfTable("l", "s.table_name")} AND ${isHeld("l")}) AS held_deletes,
    (SELECT count(*) FROM ${tables.log} l WHERE ${isOfTable("l", "s.table_name")} AND ${isRecordless("l")}) AS recordless,
    s.shape -> 'repeatsUpsertValues' IS NULL AS upsert_field_unique, coalesce(s.shape -> 'lacking', '[]') AS lacking,
    (SELECT coalesce(json_agg(json_build_object('is', s.layout #>> ARRAY['exactTypes', c ->> 'column'], 'field', c)), '[]')
      FROM jsonb_array_elements(CASE WHEN jsonb_typeof(s.shape -> 'columns') = 'array' THEN s.shape -> 'columns' ELSE '[]' END) c
      WHERE s.layout #>> ARRAY['exactTypes', c ->> 'column'] !~ '^(character varying|text$)') AS unfit,
    (SELECT count(*) FROM ${tables.inboundErrors} e WHERE e.mapping_id = s.mapping_id) AS inbound_errors,
    children.waiting AS waiting_for_parents
  FROM ${tables.state} s LEFT JOIN ${tables.loads} lo ON lo.mapping_id = s.mapping_id CROSS JOIN LATERAL (
    SELECT count(*) AS count, min(l.id) AS oldest FROM ${tables.log} l
    WHERE ${isOfTable("l", "s.table_name")} AND l.processed_at IS NULL
  ) AS waiting LEFT JOIN (
    SELECT l.table_name, json_build_object('changes', count(*), 'since', ${iso("min(l.created_at)")}, 'example', min(l.sf_message)) AS waiting
    FROM ${tables.log} l WHERE ${waitsForParent("l.")}
      AND l.created_at <= $1::timestamptz - make_interval(secs => ${REPORTED_AFTER_SECONDS}) GROUP BY 1
  ) AS children ON children.table_name::text = s.table_name::text`;

/** Rows whose records were deleted, and records whose rows were. */
function heldDeletesOf({ heldDeletes, log, state }: Metadata, table: string): string {
  const held = `
    SELECT 'row' AS deletes, 'row:' || h.sfid AS key, h.sfid::text AS sfid, NULL::bigint AS record_id, NULL::jsonb AS old, h.held_at AS at, 0 AS id
    FROM ${heldDeletes} h WHERE h.mapping_id = $1 AND NOT h.confirmed
    UNION ALL
    SELECT 'record', 'record:' || l.id, l.sfid, l.record_id, l.old, l.created_at, l.id FROM ${state} s JOIN ${log} l ON ${isOfTable("l", "s.table_name")}
    WHERE s.mapping_id = $1 AND ${isHeld("l")}`;
  return pageOf(
    `SELECT count(*) AS total FROM (${held}) AS held`,
    `SELECT deletes, key, held.sfid, record_id, ${cut(nameOf("coalesce(old, to_jsonb(t))"))} AS name, ${iso("at")} AS at, held.id FROM (
       SELECT * FROM (${held}) AS every ORDER BY every.at, id, sfid LIMIT $2::bigint OFFSET $3::bigint
     ) AS held LEFT JOIN ${table} t ON deletes = 'row' AND t.sfid::text = held.sfid::text`,
    "page.at, page.id, page.sfid",
  );
}

/** One page and, beside each row, how many there are; one row of NULLs where the page is empty. */
const pageOf = (total: string, page: string, order: string): string =>
  `SELECT counted.total, page.* FROM (${total}) AS counted LEFT JOIN (${page}) AS page ON true ORDER BY ${order}`;

/** Trying again is to undelete it: reading it would find it deleted. */
const isRefusedRestore = `starts_with(error, ${literal(NOT_RESTORED)})`;

const inboundErrorsOf = ({ inboundErrors }: Metadata): string =>
  pageOf(
    `SELECT count(*) AS total FROM ${inboundErrors} WHERE $1::text IS NULL OR mapping_id = $1`,
    `SELECT mapping_id AS id, mapping_id, sfid, ${cut("error")} AS error, attempts, ${iso("first_at")} AS first_at, ${iso("last_at")} AS last_at
     FROM ${inboundErrors} WHERE $1::text IS NULL OR mapping_id = $1
     ORDER BY last_at DESC, mapping_id, sfid LIMIT $2::bigint OFFSET $3::bigint`,
    "page.last_at DESC, page.mapping_id, page.sfid",
  );

const conflictsOf = ({ conflicts }: Metadata): string =>
  pageOf(
    `SELECT count(*) AS total FROM ${conflicts} WHERE $1::text IS NULL OR mapping_id = $1`,
    `SELECT ${CONFLICT_COLUMNS} FROM ${conflicts} WHERE $1::text IS NULL OR mapping_id = $1 ORDER BY id DESC LIMIT $2::bigint OFFSET $3::bigint`,
    "page.id DESC",
  );

function readPage<Thing>(rows: readonly Row[], read: (row: Row) => Thing) {
  const filled = rows.filter((row) => row["id"] !== null);
  return { total: Number(rows[0]?.["total"] ?? 0), rows: filled.map(read) };
}

/**
 * A first load begins again, and after it everything is read again beside the cycles, which continue. The lease of long
 * work ends: its holder would write its checkpoint back.
 */
const startOverOf = (tables: Metadata): string => `
  WITH pulls AS MATERIALIZED (SELECT position FROM ${tables.state} WHERE mapping_id = $1 FOR NO KEY UPDATE)
  UPDATE ${tables.loads} l SET load = CASE WHEN pulls.position IS NOT NULL THEN ${literal(JSON.stringify(READ_AGAIN))}::jsonb END,
    fence = l.fence + 1, lease_until = NULL
  FROM pulls WHERE l.mapping_id = $1 RETURNING l.mapping_id`;

const READ_AGAIN: LoadCheckpoint = { ...UNSTARTED, kind: "backfill", overRows: true };
