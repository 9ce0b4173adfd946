import { FOUND_BY_CHARACTERS, WAITS_FOR_PARENT } from "../../../model/change/missing-parent.ts";
import { literal, type Metadata, within } from "../session/sql.ts";

/*
 * How statements find changes by their state. Partial indexes of the log (`first-tables.sql`) know those that wait, failed
 * and succeeded. None of them names `state`, which is NEW or PENDING and changes with every claim: an index that names
 * a column is written at each of its changes. A registry names those that are PENDING.
 */

/** A condition by which indexes know a failed change. */
export const hasFailed = (alias: string): string =>
  `${alias}.state::text = 'FAILED' AND ${alias}.last_operation::text = 'FAILED'`;

/** The same of one that has succeeded; without `state`, which no index holds. */
export const hasSucceeded = (alias: string): string =>
  `${alias}.processed_at IS NOT NULL AND ${alias}.last_operation::text IS DISTINCT FROM 'FAILED'`;

/**
 * Entries of the log of a table that another part of the statement names, which the planner cannot weigh: with `=` it
 * takes each table to have as many of them as the others, and walks through all to find the first. Of a range it
 * expects little, and takes an index that begins with the table. To find the first ones, order by the table as well, or
 * the order of an index of all tables serves that.
 */
export const isOfTable = (alias: string, table: string): string =>
  `${alias}.table_name::text >= ${table}::text AND ${alias}.table_name::text <= ${table}::text`;

/** The latest successful changes of a mapping by which its lag is measured at a glance. */
export const LAG_OF = 200;

/** `lag` of the latest successful changes of a table: seconds from capture to Salesforce's word, median and 95th percentile. */
export const lagOf = ({ log }: Pick<Metadata, "log">, table: string, most: number, condition = "true"): string =>
  `SELECT percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY extract(epoch FROM (${within("processed_at")}) - (${within("created_at")}))::float8) AS lag
   FROM (SELECT l.created_at, l.processed_at FROM ${log} l WHERE ${isOfTable("l", table)} AND ${hasSucceeded("l")}
     ORDER BY l.table_name DESC, l.id DESC LIMIT ${most}) AS latest WHERE ${condition}`;

/** An expression: the last id that the log's sequence has given; retention does not lower it. */
export const lastGiven = ({ log }: Pick<Metadata, "log">): string =>
  `coalesce(pg_sequence_last_value(pg_get_serial_sequence(${literal(log)}, 'id')::regclass), 0)`;

/** Before every id of the log, also one that a person has given. */
export const BEGINNING = Number.MIN_SAFE_INTEGER;

/**
 * The table of an entry as the index of what waits in order says it: in words that no other statement uses, so that none
 * is tempted to look for the rows of a few keys in it.
 */
const tableInOrder = (alias = ""): string => `(${alias}table_name || '')`;

/** A condition of what waits of a table, and is not held. `table` is an expression; as a range (`isOfTable`). */
const waits = (alias: string, table: string): string =>
  `${tableInOrder(`${alias}.`)} >= ${table}::text AND ${tableInOrder(`${alias}.`)} <= ${table}::text
        AND ${alias}.processed_at IS NULL AND NOT ${alias}.held`;

/** A condition of deletes that the breaker holds. */
export const isHeld = (alias: string): string =>
  `${alias}.processed_at IS NULL AND ${alias}.held AND ${alias}.action::text = 'DELETE'`;

/** A condition of changes that are held because their row has no record. They block nothing. */
export const isRecordless = (alias: string): string =>
  `${alias}.processed_at IS NULL AND ${alias}.held AND ${alias}.action::text <> 'DELETE'`;

/** A condition of changes of a table that can be claimed: neither held nor put off. */
export const isReady = (alias: string, table: string): string => `${waits(alias, table)} AND ${alias}.due_at IS NULL`;

/** The same of what waits for its time. */
export const isPutOff = (alias: string, table: string): string =>
  `${waits(alias, table)} AND ${alias}.due_at IS NOT NULL`;

/** The order of ready changes in the log: by the table as well, or the key would serve it, behind all that is settled. */
export const logOrder = (alias: string): string => `${tableInOrder(`${alias}.`)}, ${alias}.id`;

/** The order in which changes that were put off become due. */
export const dueOrder = (alias: string): string => `${tableInOrder(`${alias}.`)}, ${alias}.due_at, ${alias}.id`;

/** The setting of `unsorted`, in a transaction, and what it was (`bitmapscan`). */
export const UNSORTED =
  "SELECT current_setting('enable_bitmapscan') AS bitmapscan, set_config('enable_bitmapscan', 'off', true)";

/**
 * Statements, in a transaction, of which the second reads by an order without sorting. Where most of a log is new the planner
 * knows least of it, takes the many for few, and would read and sort them all. What comes after is planned as ever.
 */
export const unsorted = (select: string): readonly [string, string, string] => [
  "SET LOCAL enable_bitmapscan = off",
  select,
  "SET LOCAL enable_bitmapscan TO DEFAULT",
];

/** By what an index finds changes that block others. */
type BlockedBy = "row" | "record" | "key";

/**
 * The table of an entry as the index of such changes says it, each in its own words: of a log without statistics all of
 * them seem to hold one entry of the table, and the planner would take any for any question.
 */
const tableBy = (by: BlockedBy, alias = ""): string => `(${alias}table_name || ' ${by}')`;

/** As these indexes know them. */
const BLOCKS = "processed_at IS NULL AND (due_at IS NOT NULL OR held)";

/** The same as a condition, of changes of a table, which is an expression. */
export const mayBlock = (alias: string, table: string, by: BlockedBy): string =>
  `${tableBy(by, `${alias}.`)} = ${table} || ' ${by}' AND ${alias}.processed_at IS NULL AND (${alias}.due_at IS NOT NULL OR ${alias}.held)`;

/** A condition of changes that wait for their parent, as an index of them has it. */
export const waitsForParent = (alias = ""): string =>
  `${alias}processed_at IS NULL AND ${alias}due_at IS NOT NULL AND starts_with(${alias}sf_message, ${literal(WAITS_FOR_PARENT)})`;

/** For which parent, as the same index has it; `message` is an expression. */
export const parentOf = (message: string): string => `lower(left(${message}, ${FOUND_BY_CHARACTERS}))`;

/** Indexes of the log by which claims find their way through a backlog; a captured change is written into the first alone. */
export const CLAIM_INDEXES = [
  ["_bridge_log_ready", `(${tableInOrder()}, id) WHERE processed_at IS NULL AND NOT held AND due_at IS NULL`],
  ["_bridge_log_due", `(${tableInOrder()}, due_at, id) WHERE processed_at IS NULL AND NOT held AND due_at IS NOT NULL`],
  ["_bridge_log_held", "(table_name, id) WHERE processed_at IS NULL AND held"],
  ["_bridge_log_blocked_rows", `(${tableBy("row")}, record_id) WHERE ${BLOCKS}`],
  ["_bridge_log_blocked_records", `(${tableBy("record")}, (left(sfid, 15))) WHERE ${BLOCKS}`],
  ["_bridge_log_rows", "(table_name, record_id, id) WHERE processed_at IS NOT NULL"],
  ["_bridge_log_parents", `(${parentOf("sf_message")}) WHERE ${waitsForParent()}`],
  ["_bridge_log_blocked_keys", `(${tableBy("key")}, upsert_key) WHERE ${BLOCKS}`],
] as const;

/**
 * Which changes are PENDING. No index of the log says so, and so claiming and marking changes write none
 * (`first-tables.sql`): each claim names its changes in one row here, in the transaction that makes them PENDING. The row
 * goes with the last of them; what a lost cycle left of it, the next one takes away once it has recovered
 * (`recover.ts`). So every PENDING change is named, and a named one need not be PENDING.
 */
export const registerPending = ({ pendingRegistry }: Metadata, { id, table, ids }: Named): string =>
  `INSERT INTO ${pendingRegistry} (id, table_name, ids) SELECT ${id}, ${table}, ${ids} WHERE cardinality(${ids}) > 0`;

/** Expressions: the claim, the table of its changes, and their ids. */
interface Named {
  readonly id: string;
  readonly table: string;
  readonly ids: string;
}

/** A condition of PENDING changes: those that are named in the rows which meet `where`. */
export const isPending = ({ pendingRegistry }: Metadata, alias: string, where: string): string =>
  `${alias}.id = ANY (ARRAY(SELECT unnest(ids) FROM ${pendingRegistry} WHERE ${where})) AND ${alias}.state::text = 'PENDING'`;

/**
 * A condition of carried changes. A newer change of a row carries the values of its older FAILED ones. These stay FAILED,
 * as they were, and bear the fence of the lease that claimed them with the newer change; a claim names them as well. If
 * the write is accepted they end SUCCESS, and keep the fence as the mark of it; else they lose it, and nothing else happens.
 */
export const isCarried = (alias: string): string => `${hasFailed(alias)} AND ${alias}.fence IS NOT NULL`;

/** The same of all claimed changes: those that are PENDING, and those that one of them carries. */
export const isClaimed = ({ pendingRegistry }: Metadata, alias: string, where: string): string =>
  `${alias}.id = ANY (ARRAY(SELECT unnest(ids) FROM ${pendingRegistry} WHERE ${where}))
       AND (${alias}.state::text = 'PENDING' OR ${isCarried(alias)})`;

/** SQL: a claimed change that was not sent is what it was before: carried ones stay FAILED. */
export const UNCLAIMED_STATE = "CASE WHEN state::text = 'PENDING' THEN 'NEW' ELSE state END";

/** Takes away the rows of a table, `$1`, that name no claimed change any more. */
export const forgetHandled = ({ pendingRegistry, log }: Metadata): string =>
  `DELETE FROM ${pendingRegistry} h WHERE h.table_name::text = $1
     AND NOT EXISTS (SELECT FROM ${log} l WHERE l.id = ANY (h.ids) AND (l.state::text = 'PENDING' OR ${isCarried("l")}))`;

/**
 * Registers what is PENDING and unregistered: an older version claimed it, or a person did. Nothing else would ever
 * find such a change.
 */
export const registerUnregistered = ({ pendingRegistry, log }: Metadata): string =>
  `INSERT INTO ${pendingRegistry} (id, table_name, ids)
   SELECT gen_random_uuid()::text, table_name, array_agg(id) FROM ${log}
   WHERE processed_at IS NULL AND state::text = 'PENDING' AND id <> ALL (ARRAY(SELECT unnest(ids) FROM ${pendingRegistry}))
   GROUP BY table_name`;
