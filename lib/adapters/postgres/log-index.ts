import type { Session } from "./session.ts";
import { type Metadata, metadata, qualified } from "./sql.ts";

const WAITING_IN_ORDER = "_bridge_log_waiting_in_order";

/**
 * The table of an entry as the index of what waits in order says it: in words that no other statement uses, so that none
 * is tempted to look for the rows of a few keys in it.
 */
const tableInOrder = (alias = ""): string => `(${alias}table_name || '')`;

/**
 * A condition of what waits of a table, and is not held, by the index that has it in order. `table` is an expression; as
 * a range, since the planner cannot weigh one that another part of the statement names (`isOfTable`).
 */
export const waitsInOrder = (alias: string, table: string): string =>
  `${tableInOrder(`${alias}.`)} >= ${table} AND ${tableInOrder(`${alias}.`)} <= ${table}
        AND ${alias}.processed_at IS NULL AND NOT ${alias}.held`;

/** Their order: by the table as well, or the key would serve it, behind all that is settled. */
export const inOrder = (alias: string): string => `${tableInOrder(`${alias}.`)}, ${alias}.id`;

export const createWaitingInOrder = ({ log }: Metadata, how: "IF NOT EXISTS" | "CONCURRENTLY"): string =>
  `CREATE INDEX ${how} ${WAITING_IN_ORDER} ON ${log} (${tableInOrder()}, id) WHERE processed_at IS NULL AND NOT held`;

/**
 * Builds what a log in use lacks of its indexes, without holding its writers up; repeatable. Until it is there, claims read
 * all that waits. What is being built by somebody else is left to him; what a broken off building left is made anew.
 */
export async function buildLogIndex(session: Session, schema: string): Promise<void> {
  const tables = metadata(schema);
  const [found] = await session.query<{ log: boolean; valid: boolean | null; building: boolean }>(
    `SELECT to_regclass($1) IS NOT NULL AS log,
       (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($2)) AS valid,
       EXISTS (SELECT FROM pg_stat_progress_create_index WHERE index_relid = to_regclass($2)) AS building`,
    [tables.log, qualified(schema, WAITING_IN_ORDER)],
  );
  if (!found?.log || found.valid === true || found.building) return;
  if (found.valid === false) await session.query(`DROP INDEX CONCURRENTLY ${qualified(schema, WAITING_IN_ORDER)}`);
  await session.query(createWaitingInOrder(tables, "CONCURRENTLY"));
}
