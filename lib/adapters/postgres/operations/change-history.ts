import { toCamelCase } from "../../../model/snake-case.ts";
import type { Span } from "../../../model/span.ts";
import { type CapturedChange, capturedChange, type Throughput } from "../../../settings/row-ports.ts";
import { readCycles } from "../log/cycle-counts.ts";
import { type Ask, cut, iso, type Metadata } from "../session/sql.ts";

/** Changes that are looked at for a throughput, the latest ones. */
const LOOKED_AT = 100_000;

/** What became of changes in that time, and how cycles ended, by mapping and step. */
export async function readThroughput(ask: Ask, tables: Metadata, span: Span): Promise<Throughput> {
  const [row] = await ask(throughputOf(tables), [span.from.toISOString(), span.stepSeconds]);
  const steps = (row?.["steps"] ?? []) as { mapping_id: string; at: string; accepted: number; refused: number }[];
  const lags = (row?.["lags"] ?? []) as { mapping_id: string; lag: [number, number] }[];
  return {
    steps: steps.map(({ mapping_id, at, ...counts }) => ({ mappingId: mapping_id, at: new Date(at), ...counts })),
    lags: new Map(lags.map(({ mapping_id, lag: [p50, p95] }) => [mapping_id, { p50, p95 }])),
    isCut: row?.["is_cut"] === true,
    ...(await readCycles(ask, tables, span)),
  };
}

/** Read from the newest change backwards by the key, so that a long log costs no more than a busy hour. */
function throughputOf({ log, state }: Metadata): string {
  return `
    WITH latest AS MATERIALIZED (
      SELECT table_name, state, created_at, processed_at FROM ${log} ORDER BY id DESC LIMIT ${LOOKED_AT}
    ), answered AS (
      SELECT s.mapping_id, l.state, l.processed_at, extract(epoch FROM l.processed_at - l.created_at)::float8 AS lag
      FROM latest l JOIN ${state} s ON s.table_name = l.table_name WHERE l.processed_at >= $1::timestamptz
    ), steps AS (
      SELECT mapping_id, to_timestamp(floor(extract(epoch FROM processed_at) / $2::int) * $2::int) AS at,
        count(*) FILTER (WHERE state = 'SUCCESS') AS accepted, count(*) FILTER (WHERE state = 'FAILED') AS refused
      FROM answered GROUP BY 1, 2
    ), lags AS (
      SELECT mapping_id, percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY lag) AS lag
      FROM answered WHERE state = 'SUCCESS' GROUP BY 1
    )
    SELECT (SELECT json_agg(steps ORDER BY mapping_id, at) FROM steps) AS steps, (SELECT json_agg(lags) FROM lags) AS lags,
      (SELECT count(*) = ${LOOKED_AT} AND min(created_at) > $1::timestamptz FROM latest) AS is_cut`;
}

/** One change; null: there is none of this id, or it was settled more than 31 days ago. */
export async function readChange(ask: Ask, tables: Metadata, id: number): Promise<CapturedChange | null> {
  const [row] = await ask(
    `SELECT id, table_name, record_id, sfid, action, state, ${cutTexts("old")} AS old, ${cutTexts('"values"')} AS "values",
       attempts, ${cut("sf_message")} AS message, held, superseded,
       ${iso("created_at")} AS created_at, ${iso("sent_at")} AS sent_at, ${iso("processed_at")} AS synced_at,
       ${iso("due_at")} AS due_at
     FROM ${tables.log} WHERE id = $1`,
    [id],
  );
  return row ? toCamelCase(capturedChange, row) : null;
}

/** One side of a change, each long text of it cut. */
const cutTexts = (side: string): string => `CASE WHEN jsonb_typeof(${side}) <> 'object' THEN ${side} ELSE (
         SELECT coalesce(jsonb_object_agg(key, CASE jsonb_typeof(value) WHEN 'string' THEN to_jsonb(${cut("value #>> '{}'")}) ELSE value END), '{}')
         FROM jsonb_each(${side})) END`;
