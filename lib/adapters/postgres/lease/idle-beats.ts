import { BEAT_SECONDS, NOTED_SECONDS } from "../../../model/beat.ts";
import { FAILURE_SPIKE_ROWS } from "../../../model/change/failure-spike.ts";
import type { TableShape } from "../../../model/mapping/shape.ts";
import { judgedCalls, judgedCount } from "../../../model/totals.ts";
import type { CycleCount, IdleBeats, SyncState, Totals, Unchanged } from "../../../sync/ports/lease-ports.ts";
import { captureSigns, isCaptured, isChanged } from "../capture/capture-check.ts";
import { isHeld, isOfTable, isPutOff, isReady } from "../log/change-states.ts";
import { addCount } from "../log/cycle-counts.ts";
import { isAnyOld } from "../log/retention.ts";
import { instant, iso, type Metadata, type Row, type StoreContext } from "../session/sql.ts";
import { unlessUnprovisioned } from "../session/sql-errors.ts";
import { watermarkColumns, watermarksOf } from "./watermarks.ts";

type Context = Pick<StoreContext, "session" | "schema" | "tables" | "retention" | "now">;

const REREADS_AT_ONCE = 200;

/** Columns of a SELECT over `_bridge_state AS s`: what a cycle of the mapping has to do, beside pulling. */
export function whatWaits(schema: string, tables: Metadata, now: string): string {
  const { log, pendingRegistry, heldDeletes, inboundErrors } = tables;
  return `
      (EXISTS (SELECT FROM ${log} c WHERE ${isReady("c", "s.table_name")} AND c.state::text = 'NEW')
        OR EXISTS (SELECT FROM ${log} c WHERE ${isPutOff("c", "s.table_name")} AND c.state::text = 'NEW' AND c.due_at <= ${now})) AS changes,
      EXISTS (SELECT FROM ${pendingRegistry} h WHERE h.table_name::text = s.table_name::text)
        OR EXISTS (SELECT FROM ${log} o WHERE ${isOfTable("o", "s.table_name")} AND o.row_owed
          AND (o.due_at IS NULL OR o.due_at <= ${now}))
        OR EXISTS (SELECT FROM ${heldDeletes} h WHERE h.mapping_id = s.mapping_id AND h.confirmed) AS unfinished,
      (SELECT count(*) FROM ${heldDeletes} h WHERE h.mapping_id = s.mapping_id AND NOT h.confirmed)
        + (SELECT count(*) FROM ${log} c WHERE ${isOfTable("c", "s.table_name")} AND ${isHeld("c")}) AS held_deletes,
      (SELECT jsonb_agg(e.sfid) FROM (SELECT sfid FROM ${inboundErrors}
        WHERE mapping_id = s.mapping_id AND retry_at <= ${now} ORDER BY retry_at LIMIT ${REREADS_AT_ONCE}) e) AS rereads,
      ${captureSigns(schema, "s")} AS capture_signs`;
}

/** The state of mappings, without their leases; one round trip. */
export async function syncStates(
  { session, schema, tables, retention, now }: Context,
  mappingIds: readonly string[],
): Promise<SyncState[]> {
  const rows = await unlessUnprovisioned(
    session.query(
      `SELECT s.mapping_id, s.shape, ${watermarkColumns("s", "lo")}, ${iso("s.last_pull_at")} AS last_pull_at,
        ${whatWaits(schema, tables, "$2")},
        EXISTS (SELECT FROM ${tables.outbox}) OR s.last_error IS NOT NULL OR s.running_failed >= ${FAILURE_SPIKE_ROWS}
          OR ${isAnyOld({ tables, retention }, "$2")} AS to_tidy
       FROM ${tables.state} s LEFT JOIN ${tables.loads} lo USING (mapping_id) WHERE s.mapping_id = ANY ($1::text[])`,
      [mappingIds, now()],
    ),
  );
  return rows.map((row) => ({
    mappingId: String(row["mapping_id"]),
    marks: watermarksOf(row),
    lastPullAt: instant(row, "last_pull_at"),
    heldDeletes: Number(row["held_deletes"]),
    isIdle: isIdle(row),
  }));
}

function isIdle(row: Row): boolean {
  const signs = row["capture_signs"];
  const hasWork =
    ["changes", "unfinished", "to_tidy"].some((column) => row[column] === true) || row["rereads"] !== null;
  return !hasWork && isCaptured(row["shape"] as TableShape, signs) && !isChanged(signs);
}

/** What an idle beat adds to the count of its minute. */
const IDLE: CycleCount = { ended: "well", pulled: 0, accepted: 0, refused: 0 };

/**
 * Ends beats that had nothing to do, and gives the totals of their mappings; one round trip. What it writes it writes once
 * a minute (`NOTED_SECONDS`), with the beats since the last time, or where a probe asks for it: so idle mappings write
 * next to no WAL. A held row is skipped: its holder has the lease.
 */
export async function endIdle(
  { session, tables, now }: Context,
  { slot, beats, unchanged: seen }: IdleBeats,
): Promise<ReadonlyMap<string, Ended>> {
  const rows = await unlessUnprovisioned(
    session.query(
      `WITH free AS (
        SELECT s.mapping_id, s.rows_synced, s.rows_failed, s.api_calls,
          least(greatest((:slot::bigint - s.slot) / ${BEAT_SECONDS}, 1), ${NOTED_SECONDS / BEAT_SECONDS})::int AS beats,
          (s.last_run_at > :now::timestamptz - interval '${NOTED_SECONDS - BEAT_SECONDS / 2} s' AND s.mapping_id <> ALL (:seen::text[])) IS NOT TRUE AS is_noted
        FROM ${tables.state} s
        JOIN unnest(:mappings::text[], :versions::int[]) AS beat (mapping_id, config_version) USING (mapping_id, config_version)
        WHERE (s.lease_until IS NULL OR s.lease_until <= clock_timestamp()) AND (s.slot IS NULL OR s.slot < :slot)
      ), locked AS (
        SELECT mapping_id FROM ${tables.state} WHERE mapping_id = ANY (ARRAY(SELECT mapping_id FROM free WHERE is_noted))
          AND (lease_until IS NULL OR lease_until <= clock_timestamp()) FOR NO KEY UPDATE SKIP LOCKED
      ), ended AS (
        UPDATE ${tables.state} s SET last_run_at = :now, slot = :slot, ${lateMarks(":late")},
          last_pull_at = CASE WHEN s.mapping_id = ANY (:seen::text[]) THEN greatest(s.last_pull_at, :seenAt) ELSE s.last_pull_at END
        FROM locked JOIN free USING (mapping_id) WHERE s.mapping_id = locked.mapping_id
        RETURNING s.mapping_id, true AS is_current, free.beats
      ), ${unchanged(tables, { ids: ":seen", at: ":seenAt", late: ":late", own: ":mappings" })}${addCount(tables, "ended", ":count", ":now", "e.beats")}
      SELECT * FROM free WHERE NOT is_noted OR mapping_id IN (SELECT mapping_id FROM ended)`,
      {
        mappings: beats.map(({ mappingId }) => mappingId),
        versions: beats.map(({ configVersion }) => configVersion),
        ...{ seen: seen?.mappingIds ?? [], seenAt: seen?.at ?? null, late: lateLooks(seen) },
        ...{ slot, now: now(), count: JSON.stringify(IDLE) },
      },
    ),
  );
  return new Map(rows.map((row) => [String(row["mapping_id"]), totalsOf(row)]));
}

/** What a mapping's row says of it at the end of a cycle. */
type Ended = Pick<Totals, "rowsSynced" | "rowsFailed" | "apiCalls">;

/** The totals in a mapping's row, which its owner may have written. */
export const totalsOf = (row: Row): Ended => ({
  rowsSynced: judgedCount(row["rows_synced"]),
  rowsFailed: judgedCount(row["rows_failed"]),
  apiCalls: judgedCalls(row["api_calls"]),
});

/** The parameter that `lateMarks` reads: looks by mapping. */
export const lateLooks = (seen: Unchanged | null | undefined): string =>
  JSON.stringify(
    Object.fromEntries((seen?.late ?? []).map(({ mappingId, from, marks }) => [mappingId, { from, ...marks }])),
  );

/** `SET` clauses that move the pulls of a mapping as far as a probe has looked, unless they have moved since. */
const lateMarks = (late: string): string => {
  const look = `${late}::jsonb -> s.mapping_id`;
  return ["position", "slow", "deleted"]
    .map(
      (mark) =>
        `${mark} = CASE WHEN s.slow IS NOT NULL AND s.position = (${look} ->> 'from')::timestamptz THEN (${look} ->> '${mark}')::timestamptz ELSE s.${mark} END`,
    )
    .join(", ");
};

interface Seen {
  /** Expressions: the mappings of which a probe saw nothing new, its time, and the mappings whose own end says so. */
  readonly ids: string;
  readonly at: string;
  /** What `lateLooks` gives. */
  readonly late: string;
  readonly own: string;
}

/** A part of a WITH clause. A mapping whose row is held runs a cycle, which says itself when it pulled. */
export const unchanged = ({ state }: Metadata, { ids, at, late, own }: Seen): string => `unchanged AS (
      UPDATE ${state} s SET last_pull_at = ${at}, ${lateMarks(late)}
      FROM (SELECT mapping_id FROM ${state} WHERE mapping_id = ANY (${ids}::text[]) AND mapping_id <> ALL (${own}::text[])
              AND position IS NOT NULL AND last_pull_at < ${at}::timestamptz FOR NO KEY UPDATE SKIP LOCKED) free
      WHERE s.mapping_id = free.mapping_id)`;
