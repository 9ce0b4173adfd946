import { MAX_MINUTES, type Span } from "../../../model/span.ts";
import type { CycleStep } from "../../../settings/row-ports.ts";
import type { Ask, Metadata } from "../session/sql.ts";

const COUNTS = ["well", "failed", "stopped", "pulled", "accepted", "refused"] as const;

/**
 * A further part of a WITH clause that adds a `CycleCount` to its minute. `ended` names the part with the mapping and
 * whether the lease was still valid, without which no cycle has ended well. The minute's row of the day before is taken
 * over, so that nothing has to be deleted; `count` and `now` are the parameters with the count and the time.
 */
export function addCount({ cycles }: Metadata, ended: string, count: string, now: string): string {
  const added = COUNTS.map(
    (name) => `${name} = excluded.${name} + CASE WHEN c.minute = excluded.minute THEN c.${name} ELSE 0 END`,
  );
  return `, counted AS (
      INSERT INTO ${cycles} AS c (mapping_id, slot, minute, ${COUNTS.join(", ")})
      SELECT e.mapping_id, m.minute % ${MAX_MINUTES}, m.minute, (g.ended = 'well' AND e.is_current)::int,
        (g.ended = 'failed')::int, (g.ended = 'stopped' OR g.ended = 'well' AND NOT e.is_current)::int,
        g.pulled, g.accepted, g.refused
      FROM ${ended} e, (SELECT floor(extract(epoch FROM ${now}::timestamptz)::float8 / 60::float8)::int AS minute) m,
        (SELECT coalesce(ended, '') AS ended, pulled, accepted, refused
         FROM jsonb_to_record(${count}::jsonb) AS r (ended text, pulled int, accepted int, refused int)) g
      WHERE g.ended <> '' OR g.pulled > 0
      ON CONFLICT (mapping_id, slot) DO UPDATE SET minute = excluded.minute, ${added.join(", ")})`;
}

/** How cycles ended in a span, by mapping and step. */
export async function readCycles(ask: Ask, { cycles }: Metadata, span: Span): Promise<CycleStep[]> {
  const sums = COUNTS.map((name) => `sum(${name})::int AS ${name}`).join(", ");
  const [row] = await ask(
    `SELECT (SELECT json_agg(steps) FROM (
       SELECT mapping_id, to_timestamp(minute * 60::bigint / $2::int * $2::int) AS at, ${sums}
       FROM ${cycles} WHERE minute >= $1::int GROUP BY 1, 2 ORDER BY 1, 2) steps) AS steps`,
    [span.from.getTime() / 60_000, span.stepSeconds],
  );
  const steps = (row?.["steps"] ?? []) as (Omit<CycleStep, "mappingId" | "at"> & { mapping_id: string; at: string })[];
  return steps.map(({ mapping_id, at, ...counts }) => ({ mappingId: mapping_id, at: new Date(at), ...counts }));
}
