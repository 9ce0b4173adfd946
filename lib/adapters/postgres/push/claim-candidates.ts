import { isUnblocked, keysOf, unnoted } from "../log/blocked-keys.ts";
import { unpacked } from "../log/change-rows.ts";
import { dueOrder, isClaimed, isPutOff, isReady, logOrder, mayBlock } from "../log/change-states.ts";
import { literal, type MappedTable, type Metadata } from "../session/sql.ts";
import { LOCK_NOT_AVAILABLE } from "../session/sql-errors.ts";

/** What was found. */
export interface Found {
  /** At most as many changes as were asked for. */
  readonly found: number;
  /** As many of the first as fit into memory with their results; at least one. */
  readonly fit: number;
  /** The last id of those; null: nothing was found. */
  readonly last: number | null;
  /** The keys of the rows of those that fit, as texts, which hold a key of any size. */
  readonly recordIds: readonly string[] | null;
}

/** What the changes of one claim may hold together, as PostgreSQL packs them and as they are. */
const PACKED_BYTES = 8_000_000;
const CLAIM_BYTES = 16_000_000;

/** What is packed into less lies in the row itself, and costs next to nothing to measure. */
const INLINE_BYTES = 2_000;

/**
 * A SELECT that finds the first changes which can be claimed now; its one row has `found`. `:now` is the service's time,
 * `:limit` how many, `:after` behind which id of the log. Run it so that nothing is sorted (`unsorted`): `:bitmapscan` is
 * what it sets back.
 *
 * Candidates come first: those that are ready, in log order, and of those that were put off as many as are asked for,
 * in the order in which they became due; the others are put off for this claim. What blocks a candidate is looked for
 * by its keys: what is under way in one JSON object, what waits or is held by indexes. Nothing is joined, so no plan
 * can go wrong over a long backlog.
 */
export function claimStatement(tables: Metadata, mapped: MappedTable): string {
  const table = literal(mapped.shape.table);
  const isBlocking = "(b.held AND b.action::text = 'DELETE' OR (b.due_at, b.id) > (SELECT due_at, id FROM horizon))";
  const keysAreFree = `NOT (SELECT first_by_key FROM blocking) ? ('row ' || c.record_id)
          AND NOT EXISTS (SELECT FROM unnest(${keysOf("c", mapped)}) AS key
            WHERE ((SELECT first_by_key FROM blocking) ->> key)::bigint < c.id)`;
  const isFree = `CASE WHEN (SELECT first_by_key = '{}' FROM blocking) THEN true ELSE ${keysAreFree} END
        AND CASE WHEN (SELECT found FROM indexed) THEN ${isUnblocked(tables.log, "c", mapped, isBlocking)} ELSE true END`;
  const first = (which: string, order: string) => `(
        SELECT c.id, c.record_id, coalesce(pg_column_size(c."values"), 0) AS packed,
          CASE WHEN pg_column_size(c."values") <= ${INLINE_BYTES} THEN ${unpacked(`c."values"`)} END AS bytes
        FROM ${tables.log} c WHERE ${which} AND c.id > :after::bigint AND c.state::text = 'NEW' AND ${isFree}
        ORDER BY ${order} LIMIT :limit::bigint)`;
  return `
    WITH horizon AS MATERIALIZED (
      SELECT due_at, id FROM (
        (SELECT d.due_at, d.id FROM ${tables.log} d WHERE ${isPutOff("d", table)} AND d.due_at <= :now::timestamptz
         ORDER BY ${dueOrder("d")} LIMIT 1 OFFSET :limit::bigint - 1)
        UNION ALL SELECT :now::timestamptz, ${Number.MAX_SAFE_INTEGER}
      ) AS either ORDER BY due_at, id LIMIT 1
    ), blocking AS MATERIALIZED (${blocking(tables, mapped, isBlocking)}
    ), indexed AS MATERIALIZED (
      SELECT EXISTS (SELECT FROM ${tables.log} b WHERE ${mayBlock("b", table, "key")}) AS found
    ), candidates AS MATERIALIZED (
      SELECT * FROM (${first(isReady("c", table), logOrder("c"))}
        UNION ALL ${first(
          `${isPutOff("c", table)} AND (c.due_at, c.id) <= (SELECT due_at, id FROM horizon)`,
          dueOrder("c"),
        )}
      ) AS either ORDER BY id LIMIT :limit::bigint
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
    SELECT json_build_object('found', found, 'fit', fit, 'last', last, 'recordIds', record_ids::text[]) AS found,
      set_config('enable_bitmapscan', :bitmapscan, true) FROM place`;
}

/**
 * The rows of changes that are under way, and those whose last result is not written back; and the first such change of
 * each sfid and upsert value; and the records that wait for the lock of their row. With them what waits or is held and
 * is in no index.
 */
function blocking(tables: Metadata, mapped: MappedTable, isBlocking: string): string {
  const { log, inboundErrors } = tables;
  const table = literal(mapped.shape.table);
  const parts = [
    `b.table_name::text = ${table} AND ${isClaimed(tables, "b", `table_name::text = ${table}`)}`,
    ...unnoted(mapped).map((which) => `${mayBlock("b", table, "key")} AND ${isBlocking} AND ${which}`),
  ];
  const keysOfThose = parts.map(
    (which) => `
        SELECT key, b.id FROM ${log} b CROSS JOIN LATERAL unnest(${keysOf("b", mapped)} || ('row ' || b.record_id)) AS key
        WHERE ${which}
        UNION ALL`,
  );
  return `
      -- Of a key that comes twice the object keeps the last one, which is the first change.
      SELECT coalesce(jsonb_object_agg(key, id ORDER BY id DESC), '{}') AS first_by_key FROM (
        ${keysOfThose.join("")}
        SELECT 'row ' || o.record_id, o.id FROM ${log} o WHERE o.table_name::text = ${table} AND o.row_owed
        UNION ALL
        -- What Salesforce has changed meets the row once its lock is free; sent before, the change would overwrite it.
        SELECT 'id ' || left(e.sfid, 15), 0 FROM ${inboundErrors} e
        WHERE e.mapping_id = ${literal(mapped.shape.mappingId)} AND e.sqlstate = '${LOCK_NOT_AVAILABLE}'
      ) AS keys`;
}
