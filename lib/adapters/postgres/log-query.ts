import type { State } from "../../model/change.ts";
import { iso } from "./fence.ts";
import type { Metadata } from "./sql.ts";

/** Which rows of the trigger log; null does not filter. The table is the parameter $3 of a page and $1 of a total. */
export interface LogFilter {
  readonly state: State | null;
  readonly table: string | null;
}

/**
 * A page of the trigger log, most recent first, with the exact total beside each row; one row of NULLs where the page is
 * empty. Parameters: limit and offset. Settled rows are counted by the totals that every settling keeps, waiting ones
 * live, so the total costs what waits, not what was ever logged.
 */
export function logPage(tables: Metadata, filter: LogFilter): string {
  return `
    SELECT counted.total, ${COLUMNS}
    FROM (SELECT ${total(tables, filter)} AS total) AS counted
    LEFT JOIN (${pageOfIds(tables, filter, "DESC")}) AS page ON true
    LEFT JOIN ${tables.log} l ON l.id = page.id
    ORDER BY l.id DESC`;
}

/** The same for a page far back, counted from the oldest row on and without the total. */
export function logPageFromOldest(tables: Metadata, filter: LogFilter): string {
  return `SELECT ${COLUMNS} FROM (${pageOfIds(tables, filter, "ASC")}) AS page JOIN ${tables.log} l ON l.id = page.id
    ORDER BY l.id DESC`;
}

/** How many rows match. */
export function logTotal(tables: Metadata, filter: LogFilter): string {
  return `SELECT ${total(tables, filter).replaceAll("$3", "$1")} AS total`;
}

const COLUMNS = `l.id, l.table_name, l.sfid, l.action, l.state,
      coalesce(l.last_operation, 'PENDING') AS last_operation, l.sf_message, ${iso("l.created_at")} AS created_at,
      CASE WHEN l.state = 'SUCCESS' THEN ${iso("l.processed_at")} END AS synced_at`;

function total(tables: Metadata, filter: LogFilter): string {
  switch (filter.state) {
    case null:
      return `${settledTotal(tables, filter)} + ${waitingTotal(tables, filter)}`;
    case "NEW":
      return `${waitingTotal(tables, filter)} - ${pendingTotal(tables, filter)}`;
    case "PENDING":
      return pendingTotal(tables, filter);
    default:
      return settledTotal(tables, filter);
  }
}

function settledTotal(tables: Metadata, { state, table }: LogFilter): string {
  const columns = state === "SUCCESS" ? "success" : state === "FAILED" ? "failed" : "success + failed";
  const where = table === null ? "" : "WHERE table_name = $3";
  return `(SELECT coalesce(sum(${columns}), 0)::bigint FROM ${tables.totals} ${where})`;
}

const waitingTotal = (tables: Metadata, filter: LogFilter): string =>
  `(SELECT count(*) FROM ${tables.log} WHERE ${waiting(filter)})`;

const pendingTotal = (tables: Metadata, filter: LogFilter): string =>
  `(SELECT count(*) FROM ${tables.log} WHERE ${pending(filter)})`;

type Order = "ASC" | "DESC";

/** Each branch reads an index that is in the page's order, or the indexes of the few rows that wait. */
function pageOfIds(tables: Metadata, filter: LogFilter, order: Order): string {
  const { state, table } = filter;
  const cut = (rows: string) => `SELECT id FROM ${rows} ORDER BY id ${order} LIMIT $1::bigint OFFSET $2::bigint`;
  if (state === null && table === null) return cut(tables.log);
  if (state === "SUCCESS" || state === "FAILED") return cut(`${tables.log} WHERE ${settled(state, filter)}`);
  if (state !== null) return cut(`(${waitingIds(tables, filter)}) AS waiting`);

  const reach = (rows: string) => `(SELECT id FROM ${rows} ORDER BY id ${order} LIMIT $1::bigint + $2::bigint)`;
  const branches = [
    reach(`${tables.log} WHERE ${settled("SUCCESS", filter)}`),
    reach(`${tables.log} WHERE ${settled("FAILED", filter)}`),
    reach(`(${waitingIds(tables, filter)}) AS waiting`),
  ];
  return cut(`(${branches.join(" UNION ALL ")}) AS branches`);
}

/**
 * The ids of what waits, by the indexes of what waits alone: with OFFSET 0 the planner does not think of walking the
 * whole log in the order of the page instead.
 */
function waitingIds(tables: Metadata, filter: LogFilter): string {
  const pendingIds = `SELECT id FROM ${tables.log} WHERE ${pending(filter)} OFFSET 0`;
  if (filter.state === "PENDING") return pendingIds;
  const ids = `SELECT id FROM ${tables.log} WHERE ${waiting(filter)} OFFSET 0`;
  return filter.state === "NEW" ? `(${ids}) EXCEPT ALL (${pendingIds})` : ids;
}

const ofTable = ({ table }: LogFilter): string => (table === null ? "" : " AND table_name = $3");

const settled = (state: "SUCCESS" | "FAILED", filter: LogFilter): string =>
  `processed_at IS NOT NULL AND state = '${state}'${ofTable(filter)}`;

const waiting = (filter: LogFilter): string => `processed_at IS NULL${ofTable(filter)}`;

const pending = (filter: LogFilter): string => `processed_at IS NULL AND state = 'PENDING'${ofTable(filter)}`;
