import { toCamelCase } from "../../../model/snake-case.ts";
import type { Span } from "../../../model/span.ts";
import { type CapturedChange, capturedChange, type Throughput } from "../../../settings/row-ports.ts";
import { LAG_OF, lagOf } from "../log/change-states.ts";
import { readCycles } from "../log/cycle-counts.ts";
import { type Ask, cut, iso, type Metadata } from "../session/sql.ts";

/** What cycles counted in that time by the minute, and the lag of the latest changes, by mapping. */
export async function readThroughput(ask: Ask, tables: Metadata, span: Span): Promise<Throughput> {
  const steps = await readCycles(ask, tables, span);
  const lags = (await ask(lagsOf(tables), [span.from.toISOString()])) as { mapping_id: string; lag: number[] }[];
  return { steps, lags: new Map(lags.map(({ mapping_id, lag: [p50 = 0, p95 = 0] }) => [mapping_id, { p50, p95 }])) };
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
