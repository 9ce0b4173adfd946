import { isPending } from "./in-hand.ts";
import type { MappedTable } from "./layout.ts";
import { tableInOrder } from "./log-index.ts";
import { literal, type Metadata } from "./sql.ts";

const TABLE_IN_ORDER = tableInOrder("c.");

/**
 * A SELECT of the first changes that can be claimed now, in log order. Parameters: table, time, limit, the batches that
 * hold nothing back, and behind which id to look.
 *
 * Said as the index of what waits in order says it, so that this is the only one that gives them one after the other: the
 * key would have them, too, behind all that is settled. `inOrder` of the transaction keeps all that waits from being sorted.
 *
 * What blocks others is gathered as one JSON object of keys, in which each change looks its own keys up: nothing is
 * joined, so no plan can go wrong over a long backlog.
 */
export function candidatesStatement(tables: Metadata, mapped: MappedTable): string {
  return `
    WITH blocking AS MATERIALIZED (${blocking(tables, mapped)})
    SELECT c.id, c.record_id, coalesce(pg_column_size(c."values"), 0) AS bytes FROM ${tables.log} c
    WHERE ${TABLE_IN_ORDER} >= $1 AND ${TABLE_IN_ORDER} <= $1 AND c.processed_at IS NULL AND c.id > $5
      AND c.state = 'NEW' AND NOT c.held AND (c.due_at IS NULL OR c.due_at <= $2)
      AND CASE WHEN (SELECT first_by_key = '{}' FROM blocking) THEN true ELSE
        NOT (SELECT first_by_key FROM blocking) ? ('row ' || c.record_id)
        AND NOT EXISTS (SELECT FROM unnest(${keysOf("c", mapped)}) AS key
          WHERE ((SELECT first_by_key FROM blocking) ->> key)::bigint < c.id) END
    ORDER BY ${TABLE_IN_ORDER}, c.id LIMIT $3`;
}

/**
 * The rows of changes that are under way, wait or are held, and those that were not told their last result; and the
 * first such change of each sfid and upsert value. The last line repeats the condition of the index.
 */
function blocking(tables: Metadata, mapped: MappedTable): string {
  const { log } = tables;
  return `
      SELECT coalesce(jsonb_object_agg(key, id), '{}') AS first_by_key FROM (
        SELECT key, min(id) AS id FROM (
          SELECT key, b.id FROM ${log} b CROSS JOIN LATERAL unnest(${keysOf("b", mapped)} || ('row ' || b.record_id)) AS key
          WHERE b.table_name = $1 AND ${isPending(tables, "b", "table_name = $1 AND id <> ALL ($4::text[])")}
            AND NOT coalesce(b.batch_id = ANY ($4::text[]), false)
          UNION ALL
          SELECT key, b.id FROM ${log} b CROSS JOIN LATERAL unnest(${keysOf("b", mapped)} || ('row ' || b.record_id)) AS key
          WHERE b.table_name = $1 AND b.processed_at IS NULL AND (b.due_at > $2 OR b.held)
            AND (b.due_at IS NOT NULL OR b.held)
          UNION ALL
          SELECT 'row ' || o.record_id, o.id FROM ${log} o WHERE o.table_name = $1 AND o.row_owed
        ) AS keys GROUP BY key) AS firsts`;
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
