import type { Metadata } from "../session/sql.ts";

/** Before every id of the log, also one that somebody has given by hand. */
export const BEGINNING = Number.MIN_SAFE_INTEGER;

/**
 * The table of an entry as the index of what waits in order says it: in words that no other statement uses, so that none
 * is tempted to look for the rows of a few keys in it.
 */
const tableInOrder = (alias = ""): string => `(${alias}table_name || '')`;

/**
 * A condition of what waits of a table, and is not held. `table` is an expression; as a range, since the planner cannot
 * weigh one that another part of the statement names (`isOfTable`).
 */
export const waits = (alias: string, table: string): string =>
  `${tableInOrder(`${alias}.`)} >= ${table} AND ${tableInOrder(`${alias}.`)} <= ${table}
        AND ${alias}.processed_at IS NULL AND NOT ${alias}.held`;

/** Its order in the log: by the table as well, or the key would serve it, behind all that is settled. */
export const logOrder = (alias: string): string => `${tableInOrder(`${alias}.`)}, ${alias}.id`;

/**
 * Statements, in a transaction, of which the second reads by an order without sorting. Where most of a log is new the planner
 * knows least of it, takes the many for few, and would read and sort them all. What comes after is planned as ever.
 */
export const unsorted = (select: string): readonly [string, string, string] => [
  "SET LOCAL enable_bitmapscan = off",
  select,
  "SET LOCAL enable_bitmapscan TO DEFAULT",
];

export const createWaitingInOrder = ({ log }: Metadata): string =>
  `CREATE INDEX _bridge_log_waiting_in_order ON ${log} (${tableInOrder()}, id) WHERE processed_at IS NULL AND NOT held`;
