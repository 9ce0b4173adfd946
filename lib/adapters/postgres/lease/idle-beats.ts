import { BEAT_SECONDS, NOTED_SECONDS } from "../../../model/beat.ts";
import { FAILURE_SPIKE_ROWS } from "../../../model/change/failure-spike.ts";
import type { TableShape } from "../../../model/mapping/shape.ts";
import { RESTORE } from "../../../model/record/restore-row.ts";
import { judgedCalls, judgedCount } from "../../../model/totals.ts";
import type { CycleCount, IdleBeats, SyncState, Totals, Unchanged } from "../../../sync/ports/lease-ports.ts";
import { captureSigns, isCaptured, isChanged } from "../capture/capture-check.ts";
import { isHeld, isOfTable, isPutOff, isReady } from "../log/change-states.ts";
import { addCount } from "../log/cycle-counts.ts";
import { isAnyOld } from "../log/retention.ts";
import { instant, iso, literal, type Metadata, type Row, type StoreContext } from "../session/sql.ts";
import { unlessUnprovisioned } from "../session/sql-errors.ts";
import { watermarkColumns, watermarksOf } from "./watermarks.ts";

type Context = Pick<StoreContext, "session" | "schema" | "tables" | "retention" | "now">;

const REREADS_AT_ONCE = 200;

/** So many held deletes of a side are counted at each beat, which takes some milliseconds. */
const MOST_HELD = 10_000;

/** Columns of a SELECT over `_bridge_state AS s`: what a cycle of the mapping has to do, beside pulling. */
export function whatWaits(schema: string, tables: Metadata, now: string): string {
  const { log, pendingRegistry, heldDeletes, inboundErrors } = tables;
  // Each kind has places of its own, so that many of one hold up none of the other.
  const due = (isOfKind: string) => `SELECT sfid FROM ${inboundErrors}
        WHERE mapping_id = s.mapping_id AND retry_at <= ${now} AND ${isOfKind} ORDER BY retry_at LIMIT ${REREADS_AT_ONCE}`;
  const isRestore = `starts_with(error, ${literal(RESTORE)})`;
  return `
      (EXISTS (SELECT FROM ${log} c WHERE ${isReady("c", "s.table_name")} AND c.state::text = 'NEW')
        OR EXISTS (SELECT FROM ${log} c WHERE ${isPutOff("c", "s.table_name")} AND c.state::text = 'NEW' AND c.due_at <= ${now})) AS changes,
      EXISTS (SELECT FROM ${pendingRegistry} h WHERE h.table_name::text = s.table_name::text)
        OR EXISTS (SELECT FROM ${log} o WHERE ${isOfTable("o", "s.table_name")} AND o.row_owed
          AND (o.due_at IS NULL OR o.due_at <= ${now}))
        OR EXISTS (SELECT FROM ${heldDeletes} h WHERE h.mapping_id = s.mapping_id AND h.confirmed) AS unfinished,
      (SELECT count(*) FROM (SELECT FROM ${heldDeletes} h WHERE h.mapping_id = s.mapping_id AND NOT h.confirmed LIMIT ${MOST_HELD}) h)
        + (SELECT count(*) FROM (SELECT FROM ${log} c WHERE ${isOfTable("c", "s.table_name")} AND ${isHeld("c")} LIMIT ${MOST_HELD}) c) AS held_deletes,
      (SELECT jsonb_agg(e.sfid) FROM (${due(`NOT ${isRestore}`)}) e) AS rereads,
      (SELECT jsonb_agg(e.sfid) FROM (${due(isRestore)}) e) AS restores,
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
        ${whatWaits(schema, tables, "$2")}, s.config_version, s.rows_synced, s.rows_failed, s.api_calls,
        ${IS_FREE} AND s.last_run_at > $2::timestamptz - interval '${NOTED_SECONDS - BEAT_SECONDS / 2} s' AS is_noted,
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
    noted: row["is_noted"] === true ? { ...totalsOf(row), configVersion: Number(row["config_version"]) } : null,
  }));
}

const IS_FREE = "(s.lease_until IS NULL OR s.lease_until <= clock_timestamp())";

function isIdle(row: Row): boolean {
  const signs = row["capture_signs"];
  const hasWork =
    ["changes", "unfinished", "to_tidy"].some((column) => row[column] === true) ||
    ["rereads", "restores"].some((column) => row[column] !== null);
  return !hasWork && isCaptured(row["shape"] as TableShape, signs) && !isChanged(signs);
}

/** What an idle beat adds to the count of its minute. */
const IDLE: CycleCount = { ended: "well", pulled: 0, accepted: 0, refused: 0 };

/**
 * Ends beats that had nothing to do, and gives the totals of their mappings; one round trip. They count with those since the
 * last that was noted. A held row is skipped: its holder has the lease.
 */
export async function endIdle(
  { session, tables, now }: Context,
  { slot, beats, unchanged: seen }: IdleBeats,
): Promise<ReadonlyMap<string, Ended>> {
  const rows = await unlessUnprovisioned(
    session.query(
      `WITH free AS (
        SELECT s.mapping_id, least(greatest((:slot::bigint - s.slot) / ${BEAT_SECONDS}, 1), ${NOTED_SECONDS / BEAT_SECONDS})::int AS beats
        FROM ${tables.state} s
        JOIN unnest(:mappings::text[], :versions::int[]) AS beat (mapping_id, config_version) USING (mapping_id, config_version)
        WHERE ${IS_FREE} AND (s.slot IS NULL OR s.slot < :slot)
        FOR NO KEY UPDATE OF s SKIP LOCKED
      ), ended AS (
        UPDATE ${tables.state} s SET last_run_at = :now, slot = :slot, ${lateMarks(":late")},
          last_pull_at = CASE WHEN s.mapping_id = ANY (:seen::text[]) THEN greatest(s.last_pull_at, :seenAt) ELSE s.last_pull_at END
        FROM free WHERE s.mapping_id = free.mapping_id
        RETURNING s.mapping_id, true AS is_current, free.beats, s.rows_synced, s.rows_failed, s.api_calls
      ), ${unchanged(tables, { ids: ":seen", at: ":seenAt", late: ":late", own: ":mappings" })}${addCount(tables, "ended", ":count", ":now", "e.beats")}
      SELECT * FROM ended`,
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
