import type { State } from "../../model/change.ts";
import { iso } from "./fence.ts";
import type { Metadata } from "./sql.ts";

/** Which rows of the trigger log; null does not filter. */
export interface LogFilter {
  readonly state: State | null;
  readonly table: string | null;
}

/**
 * One page of the trigger log, most recent first, and the exact total beside each row; one row of NULLs where the page is
 * empty. Parameters: limit, offset, and the table where one is asked for. Settled rows are counted by the totals that
 * every settling keeps, waiting ones live, so the total costs what waits, not what was ever logged.
 */
export function logPage(tables: Metadata, filter: LogFilter): string {
  return `
    SELECT counted.total, l.id, l.table_name, l.sfid, l.action, l.state,
      coalesce(l.last_operation, 'PENDING') AS last_operation, l.sf_message, ${iso("l.created_at")} AS created_at,
      CASE WHEN l.state = 'SUCCESS' THEN ${iso("l.processed_at")} END AS synced_at
    FROM (SELECT ${total(tables, filter)} AS total) AS counted
    LEFT JOIN (${pageOfIds(tables, filter)}) AS page ON true
    LEFT JOIN ${tables.log} l ON l.id = page.id
    ORDER BY l.id DESC`;
}

function total(tables: Metadata, filter: LogFilter): string {
  return isSettled(filter.state)
    ? settledTotal(tables, filter)
    : filter.state === null
      ? `${settledTotal(tables, filter)} + ${waitingTotal(tables, filter)}`
      : waitingTotal(tables, filter);
}

function settledTotal(tables: Metadata, { state, table }: LogFilter): string {
  const columns = state === "SUCCESS" ? "success" : state === "FAILED" ? "failed" : "success + failed";
  const where = table === null ? "" : "WHERE table_name = $3";
  return `(SELECT coalesce(sum(${columns}), 0)::bigint FROM ${tables.totals} ${where})`;
}

function waitingTotal(tables: Metadata, filter: LogFilter): string {
  return `(SELECT count(*) FROM ${tables.log} WHERE ${waiting(filter)})`;
}

/** Each branch reads an index that is in the page's order, or the few rows that wait. */
function pageOfIds(tables: Metadata, filter: LogFilter): string {
  const { state, table } = filter;
  if (state === null && table === null) return newest(tables, "true");
  if (isSettled(state)) return newest(tables, settled(state, table));
  if (state !== null) return newest(tables, waiting(filter));
  const branches = [settled("SUCCESS", table), settled("FAILED", table), waiting(filter)];
  const all = branches.map(
    (branch) => `(SELECT id FROM ${tables.log} WHERE ${branch} ORDER BY id DESC LIMIT $1::bigint + $2::bigint)`,
  );
  return `SELECT id FROM (${all.join(" UNION ALL ")}) AS branches ORDER BY id DESC LIMIT $1::bigint OFFSET $2::bigint`;
}

const newest = (tables: Metadata, where: string): string =>
  `SELECT id FROM ${tables.log} WHERE ${where} ORDER BY id DESC LIMIT $1::bigint OFFSET $2::bigint`;

const isSettled = (state: State | null): state is "SUCCESS" | "FAILED" => state === "SUCCESS" || state === "FAILED";

const settled = (state: "SUCCESS" | "FAILED", table: string | null): string =>
  `processed_at IS NOT NULL AND state = '${state}'${table === null ? "" : " AND table_name = $3"}`;

const waiting = ({ state, table }: LogFilter): string =>
  `processed_at IS NULL${state === null ? "" : ` AND state = '${state}'`}${table === null ? "" : " AND table_name = $3"}`;
