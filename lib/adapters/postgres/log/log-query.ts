import type { State } from "../../../model/change/change.ts";
import { cut, type Metadata, within } from "../session/sql.ts";
import { BEGINNING as BEFORE_ALL, hasSucceeded, isPending } from "./change-states.ts";

/** Which rows of the trigger log; null does not filter. The table is the parameter $3 of a page and $1 of a total. */
export interface LogFilter {
  readonly state: State | null;
  readonly table: string | null;
  /** Only rows with a lower id; totals count all rows. */
  readonly before?: number | null | undefined;
}

/**
 * A page of the trigger log, most recent first: one row, `rows` as a JSON array and the exact `total`. Parameters: limit
 * and offset. Settled rows are counted by the totals that every settling keeps, waiting ones live, so the total costs what
 * waits, not what was ever logged.
 */
export function logPage(tables: Metadata, filter: LogFilter, columns: string): string {
  const page = pageOf(tables, columns, firstIds(tables, filter));
  return `SELECT ${rowsAsJson(page)} AS rows, ${total(tables, filter)} AS total`;
}

/** A page without the total, counted from the newest row on (DESC) or from the oldest (ASC). */
export function logRows(tables: Metadata, filter: LogFilter, columns: string, order: Order): string {
  return `SELECT ${rowsAsJson(pageOf(tables, columns, pageOfIds(tables, filter, order)))} AS rows`;
}

/** How many rows match. */
export function logTotal(tables: Metadata, filter: LogFilter): string {
  return `SELECT ${total(tables, filter).replaceAll("$3", "$1")} AS total`;
}

/** An instant as the contract writes it, to the millisecond and in UTC. */
const instant = (column: string): string =>
  `to_char((${within(column)}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const BEGINNING = "l.id, l.table_name, l.sfid, l.action, l.state";
const CREATED_AT = `${instant("l.created_at")} AS created_at`;

/** The members of a row in the activity list (contract 2.4), in their order. */
export const ACTIVITY_COLUMNS = `${BEGINNING}, coalesce(l.last_operation, 'PENDING') AS _ab_lastop, ${CREATED_AT},
  CASE WHEN l.state::text = 'SUCCESS' THEN ${instant("l.processed_at")} END AS synced_at`;

/** The same in the errors list. */
export const ERROR_COLUMNS = `${BEGINNING}, coalesce(${cut("l.sf_message")}, '') AS _ab_err, ${CREATED_AT}`;

/** The rows of a page as one JSON array. */
export const rowsAsJson = (page: string): string => `(SELECT coalesce(json_agg(item), '[]') FROM (${page}) AS item)`;

/** The number of rows, as an expression. */
function total(tables: Metadata, asked: LogFilter): string {
  const filter = { ...asked, before: null };
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
  const where = table === null ? "" : "WHERE table_name::text = $3";
  return `(SELECT coalesce(sum(${columns}), 0)::bigint FROM ${tables.totals} ${where})`;
}

const waitingTotal = (tables: Metadata, filter: LogFilter): string =>
  `(SELECT count(*) FROM ${tables.log} WHERE ${waiting(filter)})`;

const pendingTotal = (tables: Metadata, filter: LogFilter): string =>
  `(SELECT count(*) FROM ${tables.log} l WHERE ${pending(tables, filter)})`;

type Order = "ASC" | "DESC";

/** The rows of a page, by their ids: as an array PostgreSQL 17 finds them in one walk of the key. */
const pageOf = ({ log }: Metadata, columns: string, ids: string): string =>
  `SELECT ${columns} FROM ${log} l WHERE l.id = ANY (ARRAY(${ids})) ORDER BY id DESC`;

/** Of a page that is not far back. What has succeeded of all tables comes from each one's index, however much waits before it. */
function firstIds(tables: Metadata, filter: LogFilter): string {
  if (filter.state !== "SUCCESS" || filter.table !== null) return pageOfIds(tables, filter, "DESC");
  // A range of both columns seems to hold many: of what seems to be few, all would be read and sorted.
  const first = `(t.table_name::text, (${BEFORE_ALL})::bigint)`;
  const last = `(t.table_name::text, ${(filter.before ?? Number.MAX_SAFE_INTEGER) - 1}::bigint)`;
  const ofEach = `SELECT l.id FROM ${tables.log} l
      WHERE (l.table_name::text, l.id) >= ${first} AND (l.table_name::text, l.id) <= ${last} AND ${hasSucceeded("l")}
      ORDER BY l.table_name DESC, l.id DESC LIMIT ${REACH}`;
  return `SELECT id FROM ${tables.totals} t CROSS JOIN LATERAL (${ofEach}) AS ended WHERE t.success > 0
    ORDER BY id DESC LIMIT $1::bigint OFFSET $2::bigint`;
}

/** A page takes no more of a part of the log than what lies before its end. */
const REACH = "$1::bigint + $2::bigint";

/** Each branch reads an index that is in the page's order, or the key, or the indexes of the few rows that wait. */
function pageOfIds(tables: Metadata, filter: LogFilter, order: Order): string {
  const cut = (rows: string) => `SELECT id FROM ${rows} ORDER BY id ${order} LIMIT $1::bigint OFFSET $2::bigint`;
  const { state, table } = filter;
  if (state === null && table === null) return cut(`${tables.log} WHERE true${belowCursor(filter)}`);
  if (state === "SUCCESS" || state === "FAILED") return cut(`${tables.log} l WHERE ${settled(state, filter)}`);
  if (state !== null) return cut(`(${waitingIds(tables, filter)}) AS waiting`);

  const reach = (rows: string) => `(SELECT id FROM ${rows} ORDER BY id ${order} LIMIT ${REACH})`;
  const branches = [
    reach(`${tables.log} l WHERE ${settled("SUCCESS", filter)}`),
    reach(`${tables.log} l WHERE ${settled("FAILED", filter)}`),
    reach(`(${waitingIds(tables, filter)}) AS waiting`),
  ];
  return cut(`(${branches.join(" UNION ALL ")}) AS branches`);
}

/**
 * The ids of what waits, by the indexes of what waits alone: with OFFSET 0 the planner does not think of walking the
 * whole log in the order of the page instead.
 */
function waitingIds(tables: Metadata, filter: LogFilter): string {
  const pendingIds = `SELECT id FROM ${tables.log} l WHERE ${pending(tables, filter)} OFFSET 0`;
  if (filter.state === "PENDING") return pendingIds;
  const notPending = filter.state === "NEW" ? ` AND id NOT IN (${pendingIds})` : "";
  return `SELECT id FROM ${tables.log} WHERE ${waiting(filter)}${notPending} OFFSET 0`;
}

const ofTable = ({ table }: LogFilter): string => (table === null ? "" : " AND table_name::text = $3");

const belowCursor = ({ before }: LogFilter): string => (before ? ` AND id < ${before}` : "");

const settled = (state: "SUCCESS" | "FAILED", filter: LogFilter): string =>
  `${state === "SUCCESS" ? hasSucceeded("l") : "last_operation::text = 'FAILED'"}${ofTable(filter)}${belowCursor(filter)}`;

const waiting = (filter: LogFilter): string => `processed_at IS NULL${ofTable(filter)}${belowCursor(filter)}`;

const pending = (tables: Metadata, filter: LogFilter): string =>
  `${isPending(tables, "l", filter.table === null ? "true" : "table_name::text = $3")}${ofTable(filter)}${belowCursor(filter)}`;
