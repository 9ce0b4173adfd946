import { NOT_RESTORED } from "../../../model/record/restore-row.ts";
import { literal, type MappedTable, type Metadata, name, qualified, type StoreContext } from "../session/sql.ts";
import { hasFailed, hasSucceeded, isCarried, isOfTable } from "./change-states.ts";

/** A Bulk job lives seven days; no image can be older than a push that was forgotten. */
const PUSHED_DAYS = 8;
/** What one cycle takes away at most, of each kind; at a beat of ten seconds over four million rows a day. */
const ROWS_AT_ONCE = 500;

const ago = (days: number, now: string): string => `${now}::timestamptz - interval '${days} days'`;

type Context = Pick<StoreContext, "tables" | "retention">;

/**
 * Further parts of a WITH clause that take away a few settled rows which are old enough, and keep the totals exact, and
 * of what else is kept for a time. `:mapping` is the mapping, `ended` names the part with the table; `now` is the parameter
 * with the time.
 */
export function pruneSettled({ tables, retention }: Context, ended: string, now: string): string {
  const past = ago(retention.logDays, now);
  const table = `(SELECT table_name FROM ${ended})`;
  return `, oldest_successes AS (
      ${oldestRows(tables, table, `${hasSucceeded("l")} AND NOT l.row_owed`, past, ROWS_AT_ONCE)}
    ), oldest_failures AS MATERIALIZED (
      ${oldestRows(tables, table, OWING_NOTHING, past, FAILURES_AT_ONCE)}
    ), oldest AS (
      SELECT id FROM oldest_successes WHERE processed_at < ${past}
      UNION ALL (SELECT id FROM oldest_failures WHERE processed_at < ${past} AND NOT may_live LIMIT ${ROWS_AT_ONCE})
    ), ${pruned(tables)}
    , ${forgotten("pushes", tables.pushed, "answered_at", PUSHED_DAYS, now)}
    , ${forgotten("tombstones", tables.tombstones, "deleted_at", retention.tombstoneDays, now)}
    , ${forgotten("conflicts", tables.conflicts, "at", retention.conflictDays, now)}
    , ${forgotten("history", tables.history, "at", retention.logDays, now)}`;
}

/**
 * An expression over `_bridge_state AS s`: the first settled change of its table is old enough to go, or a conflict or
 * tombstone. Old failures wait for the next work, for some of them stay.
 */
export const isAnyOld = ({ tables, retention }: Context, now: string): string => {
  const exists = (table: string, column: string, days: number) =>
    `EXISTS (SELECT FROM ${table} o WHERE o.mapping_id = s.mapping_id AND o.${column} < ${ago(days, now)})`;
  return `coalesce((SELECT l.processed_at FROM ${tables.log} l WHERE ${isOfTable("l", "s.table_name")} AND ${hasSucceeded("l")}
          ORDER BY l.table_name, l.id LIMIT 1) < ${ago(retention.logDays, now)}, false)
        OR ${exists(tables.tombstones, "deleted_at", retention.tombstoneDays)}
        OR ${exists(tables.conflicts, "at", retention.conflictDays)}`;
};

/** Failures are looked at so many at a time: the first ones may be there to stay. */
const FAILURES_AT_ONCE = 5_000;

/** One that a newer change carries just now has not ended yet. */
const OWING_NOTHING = `${hasFailed("l")} AND NOT l.row_owed AND l.fence IS NULL`;

/** An expression: failures are old enough to go whose rows may be there still, without an sfid: `pruneRowless`. */
export const mayBeRowless = ({ retention }: Context, now: string): string =>
  `EXISTS (SELECT FROM oldest_failures WHERE processed_at < ${ago(retention.logDays, now)} AND may_live)`;

/**
 * Takes away old failures whose row is gone, or has an sfid by now. The others stay as long as their row: its next change
 * must carry them, above all its INSERT, without which nothing would be sent. Parameters: table, time.
 */
export function pruneRowless({ tables, retention }: Context, { shape, layout }: MappedTable): string {
  const past = ago(retention.logDays, "$2");
  return `WITH oldest AS (
      SELECT id FROM ${oldestRows(tables, "$1", OWING_NOTHING, past, FAILURES_AT_ONCE)} AS f
      WHERE processed_at < ${past} AND may_live AND NOT EXISTS (
        SELECT FROM ${qualified(shape.schema, shape.table)} t WHERE t.${name(layout.key)} = f.record_id AND t.sfid IS NULL)
      LIMIT ${ROWS_AT_ONCE}
    ), ${pruned(tables)}
    SELECT FROM oldest`;
}

const pruned = ({ log, totals }: Metadata): string => `pruned AS (
      DELETE FROM ${log} l WHERE l.id = ANY (ARRAY(SELECT id FROM oldest)) AND NOT (${isCarried("l")})
      RETURNING l.table_name, l.state
    ), ${fewer(totals, "pruned")}`;

/** A further part: what a part took from the log is taken from the totals too. */
const fewer = (totals: string, part: string): string => `fewer_${part} AS (
      UPDATE ${totals} t SET success = t.success - gone.success, failed = t.failed - gone.failed
      FROM (SELECT table_name, count(*) FILTER (WHERE state::text = 'SUCCESS') AS success,
              count(*) FILTER (WHERE state::text = 'FAILED') AS failed FROM ${part} GROUP BY table_name) AS gone
      WHERE t.table_name::text = gone.table_name::text)`;

/**
 * The first rows of a table that ended so, or none while the very first was not even captured that long ago.
 *
 * The first one is found in the order of an index, however little the planner knows: a log without statistics seems to hold
 * fewer rows than are asked for, so all of them would be read and sorted to find them young.
 */
function oldestRows({ log }: Metadata, table: string, of: string, past: string, atOnce: number): string {
  const rows = `${log} l WHERE ${isOfTable("l", table)} AND ${of}`;
  return `(SELECT l.id, l.processed_at, l.record_id, l.sfid IS NULL AND l.action::text <> 'DELETE' AS may_live FROM ${rows}
      AND (SELECT l.created_at FROM ${rows} ORDER BY l.table_name, l.id LIMIT 1) < ${past}
      ORDER BY l.table_name, l.id LIMIT ${atOnce})`;
}

/** What one piece of long work takes away at most of what no mapping writes or reads any more. */
const ORPHANS_AT_ONCE = 20_000;

/** The recycle bin has nothing of a record any more that was refused so long ago. */
const BIN_DAYS = 15;

/** What waits of a deleted mapping stays this long, and goes out when the mapping is restored. */
const RESTORABLE_DAYS = 31;

/**
 * Further parts of a WITH clause for tables whose mapping was deleted: what they left in the log, and what was kept for
 * their records, goes as old as any other entry. `now` is the parameter with the time.
 */
export function pruneOrphans({ tables, retention }: Context, now: string): string {
  const { log, pendingRegistry, totals, state } = tables;
  const past = ago(retention.logDays, now);
  const settled = (of: string) =>
    `SELECT id FROM ${oldestRows(tables, "orphans.table_name", of, past, ORPHANS_AT_ONCE)} AS settled
          WHERE processed_at < ${past}`;
  return `, orphans AS (
      SELECT table_name FROM ${totals} t WHERE NOT EXISTS (SELECT FROM ${state} s WHERE s.table_name::text = t.table_name::text)
    ), left_behind AS (
      DELETE FROM ${log} l WHERE l.id = ANY (ARRAY(
        SELECT old.id FROM orphans CROSS JOIN LATERAL (
          ${settled(hasSucceeded("l"))}
          UNION ALL ${settled(hasFailed("l"))}
          UNION ALL SELECT l.id FROM ${log} l
          WHERE ${isOfTable("l", "orphans.table_name")} AND l.processed_at IS NULL AND l.created_at < ${ago(RESTORABLE_DAYS, now)}
        ) AS old LIMIT ${ORPHANS_AT_ONCE}))
      RETURNING l.table_name, l.state
    ), ${fewer(totals, "left_behind")}
    , orphaned_claims AS (
      DELETE FROM ${pendingRegistry} h WHERE h.table_name::text IN (SELECT table_name::text FROM orphans)
        AND NOT EXISTS (SELECT FROM ${log} l WHERE l.id = ANY (h.ids) AND l.state::text = 'PENDING'))
    , ${orphaned("pushes", tables.pushed, "answered_at", state, past)}
    , ${orphaned("tombstones", tables.tombstones, "deleted_at", state, past)}
    , ${orphaned("conflicts", tables.conflicts, "at", state, past)}
    , ${orphaned("inbound_errors", tables.inboundErrors, "last_at", state, past)}
    , refused_restores AS (
      DELETE FROM ${tables.inboundErrors} WHERE starts_with(error, ${literal(NOT_RESTORED)}) AND last_at < ${ago(BIN_DAYS, now)})
    , ${orphaned("held_deletes", tables.heldDeletes, "held_at", state, past)}
    , ${orphaned("history", tables.history, "at", state, past)}`;
}

/** Each table's mappings are stepped through by its index: a scan of what millions of pushes left would take too long. */
function orphaned(part: string, table: string, column: string, state: string, past: string): string {
  return `orphaned_${part} AS (
      DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
        SELECT o.ctid FROM (
          WITH RECURSIVE kept AS (
            SELECT min(mapping_id) AS mapping_id FROM ${table}
            UNION ALL SELECT (SELECT min(t.mapping_id) FROM ${table} t WHERE t.mapping_id > kept.mapping_id)
            FROM kept WHERE kept.mapping_id IS NOT NULL
          ) SELECT mapping_id FROM kept
          WHERE mapping_id IS NOT NULL AND NOT EXISTS (SELECT FROM ${state} s WHERE s.mapping_id = kept.mapping_id)
        ) AS gone JOIN ${table} o USING (mapping_id)
        WHERE o.${column} < ${past}
        LIMIT ${ORPHANS_AT_ONCE})))`;
}

function forgotten(part: string, table: string, column: string, days: number, now: string): string {
  return `old_${part} AS (
      DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${table} WHERE mapping_id = :mapping AND ${column} < ${ago(days, now)}
        LIMIT ${ROWS_AT_ONCE})))`;
}
