import type { MappingFigures } from "../../../metrics/ports.ts";
import { REWOUND } from "../../../model/change/rewound.ts";
import { MAX_MINUTES } from "../../../model/span.ts";
import type { Signs } from "../../../model/stall.ts";
import { judgedCount } from "../../../model/totals.ts";
import { isHeld, isOfTable, isPending, isPutOff, isReady, LAG_OF, lagOf, logOrder } from "../log/change-states.ts";
import { type Ask, literal, type Metadata, metadata, within } from "../session/sql.ts";

/** How far a figure of the last minutes looks back. */
const MINUTES = 10;

/** Beyond this many, what waits is not counted on, which takes a millisecond for each ten. */
const MOST_COUNTED = 100_000;

/** The metrics of mappings of a schema, in one query whose cost depends on no table's and no log's length. */
export async function readMappingFigures(
  ask: Ask,
  tables: Metadata,
  mappingIds: readonly string[],
  now: Date,
): Promise<readonly Omit<MappingFigures, "object">[]> {
  const minute = Math.floor(now.getTime() / 60_000);
  const minutes = Array.from({ length: MINUTES }, (_, back) => minute - back);
  const rows = await ask(figuresOf(tables), [minutes, minutes.map((one) => one % MAX_MINUTES), now, mappingIds]);
  const figures = rows as unknown as readonly Omit<MappingFigures, "object">[];
  return figures.map((one) => ({ ...one, pulled: judgedCount(one.pulled) }));
}

/** What mappings show of their cycles, in one query like the one above. */
export async function readSigns(ask: Ask, schema: string): Promise<readonly Signs[]> {
  const tables = metadata(schema);
  const { state, log, pendingRegistry, inboundErrors } = tables;
  const unsent = isPending(tables, "l", "table_name::text = s.table_name::text");
  const rows = await ask(`
    SELECT s.mapping_id AS id, greatest(0::float8, c.reltuples::float8, pg_stat_get_live_tuples(c.oid)::float8) AS rows,
      (SELECT count(*) FROM ${inboundErrors} e WHERE e.mapping_id = s.mapping_id)::float8 AS "inboundErrors",
      s.config_version AS version, coalesce(s.lease_until > clock_timestamp(), false) AS "isRunning",
      ${milliseconds("s.last_run_at")} AS "lastCycleAt",
      CASE WHEN EXISTS (SELECT FROM ${pendingRegistry} h WHERE h.table_name::text = s.table_name::text)
        THEN (SELECT ${milliseconds("min(l.updated_at)")} FROM ${log} l WHERE ${unsent} AND l.sent_at IS NULL) END AS "unsentSince",
      (SELECT count(DISTINCT l.record_id) FROM ${log} l WHERE ${unsent} AND l.batch_id = ${literal(REWOUND)})::float8 AS rewound
    FROM ${state} s LEFT JOIN pg_class c ON c.oid = to_regclass(format('%I.%I', ${literal(schema)}::text, s.table_name::text))::oid`);
  return rows as unknown as readonly Signs[];
}

/** The lag is looked for where something was accepted: of an idle mapping it would read old changes to find none. */
const figuresOf = ({ log, state, cycles, heldDeletes, inboundErrors, conflicts }: Metadata): string => `
  SELECT s.mapping_id AS id, ready.count + put_off.count AS waiting,
    ${milliseconds("least(ready.first_at, put_off.first_at)")} AS "oldestAt",
    ((SELECT count(*) FROM ${heldDeletes} h WHERE h.mapping_id = s.mapping_id AND NOT h.confirmed)
      + (SELECT count(*) FROM (SELECT FROM ${log} l WHERE ${isOfTable("l", "s.table_name")} AND ${isHeld("l")}
        LIMIT ${MOST_COUNTED}) h))::float8 AS "heldDeletes",
    (SELECT count(*) FROM ${inboundErrors} e WHERE e.mapping_id = s.mapping_id)::float8 AS "inboundErrors",
    (SELECT count(*) FROM ${conflicts} c
      WHERE c.mapping_id = s.mapping_id AND c.at > $3::timestamptz - interval '1 day')::float8 AS conflicts,
    ${milliseconds("s.last_run_at")} AS "lastCycleAt", coalesce(moved.pulled, 0) AS pulled,
    lag.seconds[1] AS "lagP50", lag.seconds[2] AS "lagP95"
  FROM ${state} s
  CROSS JOIN LATERAL (SELECT sum(pulled)::float8 AS pulled, sum(accepted) AS accepted FROM ${cycles} c
    WHERE c.mapping_id = s.mapping_id AND c.slot = ANY ($2::int[]) AND c.minute = ANY ($1::int[])) AS moved
  CROSS JOIN LATERAL (SELECT count(*)::float8, min(created_at) AS first_at FROM (
    SELECT created_at FROM ${log} l WHERE ${isReady("l", "s.table_name")} ORDER BY ${logOrder("l")} LIMIT ${MOST_COUNTED}) r) AS ready
  CROSS JOIN LATERAL (SELECT count(*)::float8, min(created_at) AS first_at FROM (
    SELECT created_at FROM ${log} l WHERE ${isPutOff("l", "s.table_name")} LIMIT ${MOST_COUNTED}) p) AS put_off
  CROSS JOIN LATERAL (SELECT CASE WHEN moved.accepted > 0 THEN (
    ${lagOf({ log }, "s.table_name", LAG_OF, `processed_at >= $3::timestamptz - make_interval(mins => ${MINUTES})`)}) END AS seconds) AS lag
  WHERE s.mapping_id = ANY ($4::text[])`;

const milliseconds = (instant: string): string => `extract(epoch FROM ${within(instant)})::float8 * 1000::float8`;
