import { FAILURE_SPIKE_ROWS } from "../../../model/change/failure-spike.ts";
import { cutText } from "../../../model/cut-text.ts";
import type { TableShape } from "../../../model/mapping/shape.ts";
import { settledUntil } from "../../../model/record/position.ts";
import { API_LABELS } from "../../../model/totals.ts";
import {
  type BeginRequest,
  type Begun,
  type CycleEnd,
  type Finished,
  type Lease,
  LeaseLost,
  type Renewal,
  WriteUndone,
} from "../../../sync/ports/lease-ports.ts";
import { isCaptured, isChanged, readCaptureOff } from "../capture/capture-check.ts";
import { followTable } from "../capture/follow-table.ts";
import { lastGiven } from "../log/change-states.ts";
import { addCount } from "../log/cycle-counts.ts";
import { mayBeRowless, pruneOrphans, pruneRowless, pruneSettled } from "../log/retention.ts";
import {
  instant,
  iso,
  type Layout,
  literal,
  type MappedTable,
  type Metadata,
  type Row,
  type StoreContext,
} from "../session/sql.ts";
import { unlessUnprovisioned } from "../session/sql-errors.ts";
import { IS_OURS, leaseTable, lockState, ofLease, renewal } from "./fence.ts";
import { lateLooks, totalsOf, unchanged, whatWaits } from "./idle-beats.ts";
import { watermarkColumns, watermarksOf, watermarksToSet } from "./watermarks.ts";

type Unmapped = Omit<StoreContext, "mapped">;

/** Acquires the lease of a mapping if it is free, and reads the mapping's state; one round trip. */
export async function begin(
  { session, schema, tables, now, failedRows }: Unmapped,
  request: BeginRequest,
): Promise<Begun & { readonly mapped?: MappedTable }> {
  const { mappingId, work, configVersion, owner, slot, leaseSeconds } = request;
  const [row] = await unlessUnprovisioned(
    session.query(beginStatement(schema, tables, work), {
      ...{ mapping: mappingId, version: configVersion, slot, owner },
      ...{ seconds: leaseSeconds, now: now() },
    }),
  );
  if (row?.["known"] !== true || row["is_behind"] === true) return { held: false, why: "not provisioned" };
  if (row["is_free"] === true && row["fence"] === null) throw new WriteUndone(leaseTable(tables, work));
  if (row["fence"] === null) return { held: false, why: whyNot(row) };

  const shape = row["shape"] as TableShape;
  const signs = row["capture_signs"];
  const followed = isChanged(signs) ? await followTable(session, schema, mappingId) : null;
  const isSound = isCaptured(shape, signs) && (!isChanged(signs) || followed !== null);
  const marks = watermarksOf(row);
  const isSettled = marks.load === null || marks.load.kind === "sweep";
  failedRows.clear();
  return {
    held: true,
    lease: { mappingId, work, fence: Number(row["fence"]), owner, configVersion },
    shape,
    logId: Number(row["log_id"]),
    captureOff: isSound ? null : await readCaptureOff(session, schema, mappingId),
    marks,
    lastPullAt: instant(row, "last_pull_at"),
    waiting: {
      changes: row["changes"] === true,
      unfinished: row["unfinished"] === true,
      outbox: row["outbox"] === true,
    },
    heldDeletes: Number(row["held_deletes"]),
    rereads: (row["rereads"] ?? []) as readonly string[],
    restores: (row["restores"] ?? []) as readonly string[],
    mapped: {
      shape,
      layout: followed ?? (row["layout"] as Layout),
      settledUntil: marks.position !== null && isSettled ? settledUntil(marks.position) : null,
    },
  };
}

function whyNot(row: Row): "config behind" | "config changed" | "slot taken" | "running" {
  if (row["is_ahead"] === true) return "config behind";
  if (row["same_version"] !== true) return "config changed";
  return row["slot_taken"] === true ? "slot taken" : "running";
}

/**
 * A row that a running transaction holds is skipped, not waited for: its transaction has the lease. The next holder of
 * a cycle's lease reports the spike of a cycle that never came to its end.
 */
function beginStatement(schema: string, tables: Metadata, work: Lease["work"]): string {
  const leases = leaseTable(tables, work);
  return `
    WITH free AS (
      SELECT * FROM ${leases}
      WHERE mapping_id = :mapping AND config_version = :version
        AND (lease_until IS NULL OR lease_until <= clock_timestamp())
        AND (:slot::bigint IS NULL OR slot IS NULL OR slot < :slot::bigint)
      FOR NO KEY UPDATE SKIP LOCKED
    ), acquired AS (
      UPDATE ${leases} l SET fence = l.fence + 1, lease_owner = :owner, slot = coalesce(:slot::bigint, l.slot),
        lease_until = clock_timestamp() + make_interval(secs => :seconds)
        ${work === "cycle" ? ", running_failed = 0" : ""}
      FROM free WHERE l.mapping_id = free.mapping_id
      RETURNING l.*
    )${work === "cycle" ? `, spike AS (${spike(tables, "free", "EXISTS (SELECT FROM acquired WHERE acquired.running_failed = 0)")})` : ""}
    SELECT s.mapping_id IS NOT NULL AS known, l.config_version < :version AS is_behind, l.config_version > :version AS is_ahead, l.config_version = :version AS same_version, l.slot >= :slot::bigint AS slot_taken,
      acquired.fence, EXISTS (SELECT FROM free) AS is_free, s.shape, s.layout, ${watermarkColumns("s", "lo")}, ${iso("s.last_pull_at")} AS last_pull_at,
      ${whatWaits(schema, tables, ":now")},
      EXISTS (SELECT FROM ${tables.outbox})
        ${work === "cycle" ? `OR (acquired.fence IS NOT NULL AND s.running_failed >= ${FAILURE_SPIKE_ROWS})` : ""} AS outbox,
      ${lastGiven(tables)} AS log_id
    FROM (SELECT :mapping::text AS mapping_id) asked
    LEFT JOIN ${tables.state} s ON s.mapping_id = asked.mapping_id
    LEFT JOIN ${leases} l ON l.mapping_id = asked.mapping_id
    LEFT JOIN ${tables.loads} lo ON lo.mapping_id = asked.mapping_id
    LEFT JOIN acquired ON true`;
}

/** Rows that failed in a cycle which has ended, or will never end, become one event (contract 6.1), once their count is 0 again. */
function spike(tables: Metadata, locked: string, condition = "true"): string {
  return `INSERT INTO ${tables.outbox} (event, detail)
    SELECT 'sync.failure_spike', jsonb_build_object('failed_count', running_failed, 'mapping_id', mapping_id,
      'sf_object', shape ->> 'sfObject')
    FROM ${locked} WHERE running_failed >= ${FAILURE_SPIKE_ROWS} AND ${condition}`;
}

/** Prolongs a lease that is still ours. */
export async function renew({ session, tables }: Unmapped, lease: Lease, leaseSeconds: number): Promise<Renewal> {
  const [row] = await session.query<{ is_aborted: boolean }>(renewal(tables, lease), {
    ...ofLease(lease),
    seconds: leaseSeconds,
  });
  if (!row) return "lost";
  return row.is_aborted ? "aborted" : "held";
}

/** Ends the cycle: marks, calls, spike, a little retention, and the lease is free; one round trip. */
export async function finish(
  store: StoreContext,
  lease: Lease,
  end: CycleEnd,
): Promise<Omit<Finished, "queueDepth" | "oldestWaitingSeconds">> {
  const { session, tables, now } = store;
  const marks = watermarksToSet(end.marks);
  const { mappingIds = [], at = null } = end.unchanged ?? {};
  const pulledAt = end.pulledAt ?? (mappingIds.includes(lease.mappingId) ? at : null);
  const counted = end.count ? addCount(tables, "ended", ":count", ":now") : "";
  const [row] = await session.query<{
    still_ours: boolean;
    totals: Row & Pick<Finished, "outboxWaits"> & { readonly mayBeRowless: boolean };
  }>(finishStatement(store, lease, marks.set, counted), {
    ...ofLease(lease),
    pulledAt,
    calls: JSON.stringify(end.apiCalls),
    error: end.error === null ? null : cutText(end.error),
    ...{ unchanged: mappingIds, seenAt: at, late: lateLooks(end.unchanged), now: now() },
    ...marks.values,
    count: JSON.stringify(end.count),
  });
  if (!row?.still_ours) throw new LeaseLost(lease);
  const refusedWriteBacks = { ...store.refusedWriteBacks };
  Object.assign(store.refusedWriteBacks, { rows: 0, sqlState: null }); // the next lease of this store counts its own
  const { mayBeRowless: asks, outboxWaits } = row.totals;
  const mapped = asks ? store.mapped(lease) : null;
  if (mapped) await unlessUnprovisioned(session.query(pruneRowless(store, mapped), [mapped.shape.table, now()]));
  return { ...totalsOf(row.totals), outboxWaits, refusedWriteBacks };
}

/**
 * Calls were sent, so they count even if another cycle holds the lease by now. The rest is written only while the lease
 * is ours, for the configuration that it was acquired for. A cycle that a change of configuration has ended gives its
 * lease back.
 */
function finishStatement(store: StoreContext, lease: Lease, marks: readonly string[], counted: string): string {
  const { tables } = store;
  const isCycle = lease.work === "cycle";
  const whileCurrent = [
    "last_pull_at = coalesce(:pulledAt, s.last_pull_at)",
    isCycle ? "last_error = :error" : "last_error = coalesce(:error::text, s.last_error)",
    ...(isCycle ? ["last_run_at = :now"] : []),
    ...marks,
  ];
  return `
    WITH ${isCycle ? "" : `mapping AS (${lockState(tables, ":mapping")}), `}lease AS (
      SELECT l.*, ${IS_OURS} AS is_ours, ${IS_OURS} AND l.config_version = :version AS is_current
      FROM ${leaseTable(tables, lease.work)} l ${isCycle ? "" : "CROSS JOIN mapping"} WHERE l.mapping_id = :mapping FOR NO KEY UPDATE OF l
    ), ended AS (
      UPDATE ${tables.state} s SET api_calls = ${withCalls(":calls")},
        ${[...(isCycle ? RELEASED.map((clause) => when("is_ours", clause)) : []), ...whileCurrent.map((clause) => when("is_current", clause))].join(", ")}
      FROM lease WHERE s.mapping_id = lease.mapping_id
      RETURNING s.mapping_id, s.table_name, s.rows_synced, s.rows_failed, s.api_calls, s.running_failed, lease.is_current
    ), ${unchanged(tables, { ids: ":unchanged", at: ":seenAt", late: ":late", own: "ARRAY[:mapping]" })}${isCycle ? `, spike AS (${spike(tables, "lease", "is_ours AND EXISTS (SELECT FROM ended WHERE ended.running_failed = 0)")})` : `, ${releasedLoad(tables)}${pruneOrphans(store, ":now")}`}${pruneSettled(store, "ended", ":now")}${counted}
    SELECT coalesce((SELECT is_current FROM ended), false) AS still_ours, (
      SELECT jsonb_build_object('rows_synced', rows_synced, 'rows_failed', rows_failed, 'api_calls', api_calls,
        'outboxWaits', EXISTS (SELECT FROM ${tables.outbox}), 'mayBeRowless', ${mayBeRowless(store, ":now")})
      FROM ended) AS totals`;
}

/** What was called before and now, by label; what is no count of ours there is dropped. */
const withCalls = (calls: string) => `(
          SELECT coalesce(jsonb_object_agg(label, calls), '{}') FROM (
            SELECT label, sum(CASE jsonb_typeof(calls) WHEN 'number' THEN trunc(calls::numeric) ELSE 0 END) AS calls
            FROM (SELECT * FROM jsonb_each(CASE jsonb_typeof(s.api_calls) WHEN 'object' THEN s.api_calls ELSE '{}' END)
              UNION ALL SELECT * FROM jsonb_each(${calls})) AS both_sides (label, calls)
            WHERE label IN (${API_LABELS.map(literal).join(", ")}) GROUP BY label) AS summed)`;

/** Counts calls that were sent without the lease. */
export async function addCalls(
  { session, tables }: Unmapped,
  mappingId: string,
  apiCalls: CycleEnd["apiCalls"],
): Promise<void> {
  const statement = `UPDATE ${tables.state} s SET api_calls = ${withCalls("$2")} WHERE mapping_id = $1`;
  await unlessUnprovisioned(session.query(statement, [mappingId, JSON.stringify(apiCalls)]));
}

const RELEASED = ["lease_until = NULL", "running_failed = 0"];

/** `column = value` that takes effect only under a condition of the lease. */
function when(condition: string, clause: string): string {
  const [column, value] = clause.split(" = ", 2);
  return `${column} = CASE WHEN lease.${condition} THEN ${value} ELSE s.${column} END`;
}

const releasedLoad = (tables: Metadata) => `released AS (
      UPDATE ${tables.loads} l SET lease_until = NULL, last_error = :error FROM lease WHERE l.mapping_id = lease.mapping_id AND lease.is_ours)`;
