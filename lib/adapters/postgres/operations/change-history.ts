import { toCamelCase } from "../../../model/snake-case.ts";
import type { Span } from "../../../model/span.ts";
import { type CapturedChange, capturedChange, type Throughput } from "../../../settings/row-ports.ts";
import { LAG_OF, lagOf } from "../log/change-states.ts";
import { readCycles } from "../log/cycle-counts.ts";
import { type Ask, cut, iso, type Metadata } from "../session/sql.ts";

/** Changes that are looked at for a throughput of more than a day, the latest ones. */
const LOOKED_AT = 100_000;

/**
 * The results of changes in that time, and how cycles ended, by mapping and step. Cycles count both by the minute, for
 * a day; only for a longer time is the log read.
 */
export async function readThroughput(ask: Ask, tables: Metadata, span: Span): Promise<Throughput> {
  const counted = await readCycles(ask, tables, span);
  const lags = (await ask(lagsOf(tables), [span.from.toISOString()])) as { mapping_id: string; lag: number[] }[];
  const isWholeCounted = counted.cyclesFrom !== null && counted.cyclesFrom <= span.from;
  return {
    ...(isWholeCounted ? { steps: counted.cycles, isCut: false } : await readAnswered(ask, tables, span)),
    lags: new Map(lags.map(({ mapping_id, lag: [p50 = 0, p95 = 0] }) => [mapping_id, { p50, p95 }])),
    ...counted,
  };
}

/** Read from the newest change backwards by the key, so that a long log costs no more than a busy hour. */
async function readAnswered(
  ask: Ask,
  { log, state }: Metadata,
  { from, stepSeconds }: Span,
): Promise<Pick<Throughput, "steps" | "isCut">> {
  const [row] = await ask(
    `WITH latest AS MATERIALIZED (
      SELECT table_name, state, created_at, processed_at FROM ${log} ORDER BY id DESC LIMIT ${LOOKED_AT}
    ), steps AS (
      SELECT s.mapping_id, to_timestamp(floor(extract(epoch FROM l.processed_at)::float8 / $2::int::float8) * $2::int::float8) AS at,
        count(*) FILTER (WHERE l.state::text = 'SUCCESS') AS accepted, count(*) FILTER (WHERE l.state::text = 'FAILED') AS refused
      FROM latest l JOIN ${state} s ON s.table_name::text = l.table_name::text WHERE l.processed_at >= $1::timestamptz GROUP BY 1, 2
    )
    SELECT (SELECT json_agg(steps ORDER BY mapping_id, at) FROM steps) AS steps,
      (SELECT count(*) = ${LOOKED_AT} AND min(created_at) > $1::timestamptz FROM latest) AS is_cut`,
    [from.toISOString(), stepSeconds],
  );
  const steps = (row?.["steps"] ?? []) as { mapping_id: string; at: string; accepted: number; refused: number }[];
  return {
    steps: steps.map(({ mapping_id, at, ...counts }) => ({ mappingId: mapping_id, at: new Date(at), ...counts })),
    isCut: row?.["is_cut"] === true,
  };
}

const lagsOf = (tables: Metadata): string => `
    SELECT s.mapping_id, to_json(seconds.lag) AS lag FROM ${tables.state} s CROSS JOIN LATERAL (
      ${lagOf(tables, "s.table_name", LAG_OF, "processed_at >= $1::timestamptz")}
    ) AS seconds WHERE seconds.lag IS NOT NULL`;

/** One change; null: there is none of this id, or it was settled more than 31 days ago. */
export async function readChange(ask: Ask, tables: Metadata, id: number): Promise<CapturedChange | null> {
  const [row] = await ask(`SELECT ${CHANGE_COLUMNS} FROM ${tables.log} l WHERE id = $1`, [id]);
  return row ? toCamelCase(capturedChange, row) : null;
}

/** One side of a change, each long text of it cut. */
function cutTexts(side: string): string {
  return `CASE WHEN jsonb_typeof(${side}) <> 'object' THEN ${side} ELSE (
         SELECT coalesce(jsonb_object_agg(key, CASE jsonb_typeof(value) WHEN 'string' THEN to_jsonb(${cut("value #>> '{}'")}) ELSE value END), '{}')
         FROM jsonb_each(${side})) END`;
}

/** The columns of a conflict. */
export const CONFLICT_COLUMNS = `id, mapping_id, sfid, record_id, field, ${cut("base")} AS base, ${cut("postgres")} AS postgres,
       ${cut("salesforce")} AS salesforce, winner, ${iso("at")} AS at, ${iso("postgres_at")} AS postgres_at, ${iso("salesforce_at")} AS salesforce_at`;

/** The columns of a change that are shown. */
export const CHANGE_COLUMNS = `id, table_name, record_id, sfid, action, state, ${cutTexts("old")} AS old, ${cutTexts('"values"')} AS "values",
       attempts, ${cut("sf_message")} AS message, held, superseded,
       ${iso("created_at")} AS created_at, ${iso("sent_at")} AS sent_at, ${iso("processed_at")} AS synced_at,
       ${iso("due_at")} AS due_at, coalesce(captured, 'trigger') AS captured`;
