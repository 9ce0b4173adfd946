import type { Metadata } from "../session/sql.ts";
import { hasFailed } from "./predicates.ts";

/**
 * Which changes are PENDING. No index of the log tells, so that claiming and marking changes writes none
 * (`migrations.ts`): each claim names its changes in one row here, in the transaction that makes them PENDING. The row goes
 * with the last of them; what a lost cycle left of it, the next one takes away once it has recovered (`recover.ts`). So
 * every PENDING change is named, and a named one need not be PENDING.
 */
export const registerPending = ({ inHand }: Metadata, { id, table, ids }: Named): string =>
  `INSERT INTO ${inHand} (id, table_name, ids) SELECT ${id}, ${table}, ${ids} WHERE ${ids} <> '{}'`;

/** Expressions: the claim, the table of its changes, and their ids. */
interface Named {
  readonly id: string;
  readonly table: string;
  readonly ids: string;
}

/** A condition of PENDING changes: those that are named in the rows which meet `where`. */
export const isPending = ({ inHand }: Metadata, alias: string, where: string): string =>
  `${alias}.id = ANY (ARRAY(SELECT unnest(ids) FROM ${inHand} WHERE ${where})) AND ${alias}.state = 'PENDING'`;

/**
 * A condition of carried changes. A newer change of a row carries the values of its older FAILED ones. These stay FAILED,
 * as they were, and bear the fence of the lease that claimed them with the newer change; a claim names them as well. If
 * the write is accepted they end SUCCESS, and keep the fence as the mark of it; else they lose it, and nothing else happens.
 */
export const isCarried = (alias: string): string => `${hasFailed(alias)} AND ${alias}.fence IS NOT NULL`;

/** The same of all claimed changes: those that are PENDING, and those that one of them carries. */
export const isClaimed = ({ inHand }: Metadata, alias: string, where: string): string =>
  `${alias}.id = ANY (ARRAY(SELECT unnest(ids) FROM ${inHand} WHERE ${where}))
       AND (${alias}.state = 'PENDING' OR ${isCarried(alias)})`;

/** SQL: a claimed change that was not sent is what it was before: carried ones stay FAILED. */
export const UNCLAIMED_STATE = "CASE WHEN state = 'PENDING' THEN 'NEW' ELSE state END";

/** Takes away the rows of a table, `$1`, that name no claimed change any more. */
export const forgetHandled = ({ inHand, log }: Metadata): string =>
  `DELETE FROM ${inHand} h WHERE h.table_name = $1
     AND NOT EXISTS (SELECT FROM ${log} l WHERE l.id = ANY (h.ids) AND (l.state = 'PENDING' OR ${isCarried("l")}))`;

/**
 * Names what is PENDING and is not named: a version that knew nothing of it claimed it, or somebody by hand. Nothing else
 * would ever find such a change.
 */
export const registerUnregistered = ({ inHand, log }: Metadata): string =>
  `INSERT INTO ${inHand} (id, table_name, ids)
   SELECT gen_random_uuid()::text, table_name, array_agg(id) FROM ${log}
   WHERE processed_at IS NULL AND state = 'PENDING' AND id <> ALL (ARRAY(SELECT unnest(ids) FROM ${inHand}))
   GROUP BY table_name`;
