import type { Session } from "./session.ts";
import { isOfTable, literal, type Metadata, metadata, name } from "./sql.ts";

const WAITING_IN_ORDER = "_bridge_log_waiting_in_order";

/** Before every id of the log, also one that somebody has given by hand. */
export const BEGINNING = Number.MIN_SAFE_INTEGER;

/**
 * The table of an entry as the index of what waits in order says it: in words that no other statement uses, so that none
 * is tempted to look for the rows of a few keys in it.
 */
const tableInOrder = (alias = ""): string => `(${alias}table_name || '')`;

/**
 * Whether a log has the index of what waits in order. One of a version before gets it from the daily look, and until then
 * what waits is looked for by its table alone, and all of it sorted.
 */
export const hasOrder = ({ log }: Metadata): string =>
  `coalesce((SELECT i.indisvalid FROM pg_index i WHERE i.indexrelid = to_regclass(${literal(indexOf(log))})), false)`;

/**
 * A condition of what waits of a table, and is not held. `table` is an expression; as a range, since the planner cannot
 * weigh one that another part of the statement names (`isOfTable`).
 */
export const waits = (alias: string, table: string, isOrdered: boolean): string =>
  `${isOrdered ? isBetween(tableInOrder(`${alias}.`), table) : isOfTable(alias, table)}
        AND ${alias}.processed_at IS NULL AND NOT ${alias}.held`;

/** Its order in the log: by the table as well, or the key would serve it, behind all that is settled. */
export const logOrder = (alias: string, isOrdered: boolean): string =>
  isOrdered ? `${tableInOrder(`${alias}.`)}, ${alias}.id` : `${alias}.id`;

/**
 * Statements, in a transaction, of which the second reads by an order without sorting. Where most of a log is new the planner
 * knows least of it, takes the many for few, and would read and sort them all. What comes after is planned as ever.
 */
export const unsorted = (select: string): readonly [string, string, string] => [
  "SET LOCAL enable_bitmapscan = off",
  select,
  "SET LOCAL enable_bitmapscan TO DEFAULT",
];

export const createWaitingInOrder = ({ log }: Metadata, how: "" | "CONCURRENTLY"): string =>
  `CREATE INDEX ${how} IF NOT EXISTS ${WAITING_IN_ORDER} ON ${log} (${tableInOrder()}, id) WHERE processed_at IS NULL AND NOT held`;

/** Takes away what an earlier version has made and nothing asks for any more. */
export const dropUnusedIndex = ({ log }: Metadata, how: "" | "CONCURRENTLY"): string =>
  `DROP INDEX ${how} IF EXISTS ${beside(log, "_bridge_log_all_successes")}`;

/**
 * Builds what a log in use lacks of its indexes, then takes away what nobody needs, without holding its writers up;
 * repeatable. What is being built is left to who builds: of two that began at once, PostgreSQL would end one. What a broken
 * off building left goes, and is built by the next look: of two that meet here, neither takes away what the other has made.
 */
export async function buildLogIndex(session: Session, schema: string): Promise<void> {
  const tables = metadata(schema);
  const index = indexOf(tables.log);
  const [found] = await session.query<{ log: boolean; valid: boolean | null; building: boolean }>(
    `SELECT to_regclass($1) IS NOT NULL AS log,
       (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($2)) AS valid,
       EXISTS (SELECT FROM pg_stat_progress_create_index WHERE relid = to_regclass($1)) AS building`,
    [tables.log, index],
  );
  if (!found?.log || found.building) return;
  if (found.valid === null) await session.query(createWaitingInOrder(tables, "CONCURRENTLY"));
  if (found.valid === false) await session.query(`DROP INDEX CONCURRENTLY IF EXISTS ${index}`);
  await session.query(dropUnusedIndex(tables, "CONCURRENTLY"));
}

const indexOf = (log: string): string => beside(log, WAITING_IN_ORDER);

/** An index of a log, whose name is qualified. */
const beside = (log: string, index: string): string => log.replace(/"_trigger_log"$/, name(index));

const isBetween = (expression: string, table: string): string =>
  `${expression} >= ${table} AND ${expression} <= ${table}`;
