import type { State } from "../../model/change.ts";
import { iso } from "./fence.ts";
import type { Metadata } from "./sql.ts";

/** Which rows of the trigger log; null does not filter. */
export interface LogFilter {
  readonly state: State | null;
  readonly table: string | null;
}

/** Which end of the order is nearer to the page: a page far back is read from the oldest row on. */
export type Direction = "from the newest" | "from the oldest";

/**
 * One page of the trigger log, most recent first, and the exact total beside each row; one row of NULLs where the page is
 * empty. Parameters: limit, offset, and the table where one is asked for. Settled rows are counted by the totals that
 * every settling keeps, waiting ones live, so the total costs what waits, not what was ever logged.
 */
export function logPage(tables: Metadata, filter: LogFilter, direction: Direction): string {
  return `
    WITH counted AS (SELECT ${total(tables, filter)} AS total)
    SELECT counted.total, l.id, l.table_name, l.sfid, l.action, l.state,
      coalesce(l.last_operation, 'PENDING') AS last_operation, l.sf_message, ${iso("l.created_at")} AS created_at,
      CASE WHEN l.state = 'SUCCESS' THEN ${iso("l.processed_at")} END AS synced_at
    FROM counted
    LEFT JOIN (${pageOfIds(tables, filter, slices[direction])}) AS page ON true
    LEFT JOIN ${tables.log} l ON l.id = page.id
    ORDER BY l.id DESC`;
}

/** How many rows match. The table is the only parameter. */
export function logTotal(tables: Metadata, filter: LogFilter): string {
  return `SELECT ${total(tables, filter).replaceAll("$3", "$1")} AS total`;
}

/** How a page is cut out of rows in order; `reach`: how many rows of one branch can be part of it. */
interface Slice {
  readonly order: "ASC" | "DESC";
  readonly reach: string;
  readonly limit: string;
  readonly offset: string;
}

const LEFT = "((SELECT total FROM counted) - $2::bigint)";

const slices: Readonly<Record<Direction, Slice>> = {
  "from the newest": { order: "DESC", reach: "$1::bigint + $2::bigint", limit: "$1::bigint", offset: "$2::bigint" },
  "from the oldest": {
    order: "ASC",
    reach: `greatest(0, ${LEFT})`,
    limit: `greatest(0, least($1::bigint, ${LEFT}))`,
    offset: `greatest(0, ${LEFT} - $1::bigint)`,
  },
};

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
function pageOfIds(tables: Metadata, filter: LogFilter, slice: Slice): string {
  const { state, table } = filter;
  if (state === null && table === null) return cut(tables, "true", slice);
  if (isSettled(state)) return cut(tables, settled(state, table), slice);
  if (state !== null) return cut(tables, waiting(filter), slice);
  const { order, reach, limit, offset } = slice;
  const branches = [settled("SUCCESS", table), settled("FAILED", table), waiting(filter)];
  const all = branches.map(
    (branch) => `(SELECT id FROM ${tables.log} WHERE ${branch} ORDER BY id ${order} LIMIT ${reach})`,
  );
  return `SELECT id FROM (${all.join(" UNION ALL ")}) AS branches ORDER BY id ${order} LIMIT ${limit} OFFSET ${offset}`;
}

const cut = (tables: Metadata, where: string, { order, limit, offset }: Slice): string =>
  `SELECT id FROM ${tables.log} WHERE ${where} ORDER BY id ${order} LIMIT ${limit} OFFSET ${offset}`;

const isSettled = (state: State | null): state is "SUCCESS" | "FAILED" => state === "SUCCESS" || state === "FAILED";

const settled = (state: "SUCCESS" | "FAILED", table: string | null): string =>
  `processed_at IS NOT NULL AND state = '${state}'${table === null ? "" : " AND table_name = $3"}`;

const waiting = ({ state, table }: LogFilter): string =>
  `processed_at IS NULL${state === null ? "" : ` AND state = '${state}'`}${table === null ? "" : " AND table_name = $3"}`;
