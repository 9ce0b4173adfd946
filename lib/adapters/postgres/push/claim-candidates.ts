import { unpacked } from "../log/change-rows.ts";
import { isClaimed, logOrder, waits } from "../log/change-states.ts";
import { literal, type MappedTable, type Metadata } from "../session/sql.ts";

/** What is looked for. */
export interface Asked {
  /** The service's time. */
  readonly now: Date;
  readonly limit: number;
  /** Behind which id of the log. */
  readonly after: number;
}

/** What was found. */
export interface Found {
  /** At most as many changes as were asked for. */
  readonly found: number;
  /** As many of the first as fit into memory with what becomes of them; one always does. */
  readonly fit: number;
  /** The last id of those; null: nothing was found. */
  readonly last: number | null;
  /** The keys of the rows of those that fit, as texts, which tell a key of any size. */
  readonly recordIds: readonly string[] | null;
}

/** What the changes of one claim may hold together, as PostgreSQL packs them and as they are. */
const PACKED_BYTES = 8_000_000;
const CLAIM_BYTES = 16_000_000;

/** What is packed into less lies in the row itself, and costs next to nothing to measure. */
const INLINE_BYTES = 2_000;

/**
 * A SELECT, without parameters, that finds the first changes which can be claimed now; its one row has `found`. It is to be
 * asked so that nothing is sorted (`unsorted`).
 *
 * What blocks others is gathered as one JSON object of keys, in which each change looks its own keys up; and what comes of
 * one step goes to the next as an array. Nothing is joined, so no plan can go wrong over a long backlog.
 */
export function claimStatement(tables: Metadata, mapped: MappedTable, asked: Asked): string {
  const table = literal(mapped.shape.table);
  return `
    WITH blocking AS MATERIALIZED (${blocking(tables, mapped, asked)}
    ), candidates AS MATERIALIZED (
      SELECT c.id, c.record_id, coalesce(pg_column_size(c."values"), 0) AS packed,
        CASE WHEN pg_column_size(c."values") <= ${INLINE_BYTES} THEN ${unpacked(`c."values"`)} END AS bytes
      FROM ${tables.log} c
      WHERE ${waits("c", table)} AND c.id > ${asked.after}
        AND c.state = 'NEW' AND (c.due_at IS NULL OR c.due_at <= ${time(asked.now)})
        AND CASE WHEN (SELECT first_by_key = '{}' FROM blocking) THEN true ELSE
          NOT (SELECT first_by_key FROM blocking) ? ('row ' || c.record_id)
          AND NOT EXISTS (SELECT FROM unnest(${keysOf("c", mapped)}) AS key
            WHERE ((SELECT first_by_key FROM blocking) ->> key)::bigint < c.id) END
      ORDER BY ${logOrder("c")} LIMIT ${asked.limit}
    ), beyond AS MATERIALIZED (
      -- The first that does not fit. Read row by row up to it, so no large value behind it is unpacked.
      SELECT id FROM (
        SELECT id, row_number() OVER first_ones > 1 AND (sum(packed) OVER first_ones > ${PACKED_BYTES}
          OR sum(CASE WHEN packed <= ${INLINE_BYTES} THEN bytes
            ELSE (SELECT ${unpacked(`l."values"`)} FROM ${tables.log} l WHERE l.id = c.id) END) OVER first_ones > ${CLAIM_BYTES}) AS is_beyond
        FROM candidates c WINDOW first_ones AS (ORDER BY id ROWS UNBOUNDED PRECEDING)) AS c
      WHERE is_beyond ORDER BY id LIMIT 1
    ), place AS MATERIALIZED (
      SELECT count(*) AS found, count(*) FILTER (WHERE fits) AS fit, max(id) FILTER (WHERE fits) AS last,
        array_agg(DISTINCT record_id) FILTER (WHERE fits) AS record_ids
      FROM (SELECT id, record_id, id < coalesce((SELECT id FROM beyond), ${Number.MAX_SAFE_INTEGER}) AS fits FROM candidates) AS c
    )
    SELECT json_build_object('found', found, 'fit', fit, 'last', last, 'recordIds', record_ids::text[]) AS found FROM place`;
}

const time = (at: Date): string => `${literal(at.toISOString())}::timestamptz`;

/**
 * The rows of changes that are under way, wait or are held, and those that were not told their last result; and the
 * first such change of each sfid and upsert value. What is said twice of `due_at` and `held` is the condition of an index.
 */
function blocking(tables: Metadata, mapped: MappedTable, { now }: Asked): string {
  const { log } = tables;
  const table = literal(mapped.shape.table);
  return `
      -- Of a key that comes twice the object keeps the last one, which is the first change.
      SELECT coalesce(jsonb_object_agg(key, id ORDER BY id DESC), '{}') AS first_by_key FROM (
        SELECT key, b.id FROM ${log} b CROSS JOIN LATERAL unnest(${keysOf("b", mapped)} || ('row ' || b.record_id)) AS key
        WHERE b.table_name = ${table} AND ${isClaimed(tables, "b", `table_name = ${table}`)}
        UNION ALL
        SELECT key, b.id FROM ${log} b CROSS JOIN LATERAL unnest(${keysOf("b", mapped)} || ('row ' || b.record_id)) AS key
        WHERE b.table_name = ${table} AND b.processed_at IS NULL AND (b.due_at > ${time(now)} OR b.held)
          AND (b.due_at IS NOT NULL OR b.held)
        UNION ALL
        SELECT 'row ' || o.record_id, o.id FROM ${log} o WHERE o.table_name = ${table} AND o.row_owed
      ) AS keys`;
}

/** By what changes of different rows can get in each other's way; Salesforce compares upsert values without case. */
function keysOf(alias: string, { shape }: MappedTable): string {
  const column = shape.columns.find(({ field }) => field === shape.upsertField)?.column;
  const keys = [`'id ' || left(${alias}.sfid, 15)`];
  for (const side of column === undefined ? [] : [`${alias}.old`, `${alias}."values"`]) {
    keys.push(`'key ' || lower(btrim(${side} ->> ${literal(column ?? "")}))`);
  }
  return `array_remove(ARRAY[${keys.join(", ")}], NULL)`;
}
