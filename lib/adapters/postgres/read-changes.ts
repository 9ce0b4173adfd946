import { ChangedMeanwhile, type Lease, LeaseLost, type Renewal } from "../../sync/ports.ts";
import { hasFailed } from "./ended.ts";
import { renewal, type Workbench } from "./fence.ts";
import { nameInHand } from "./in-hand.ts";
import type { MappedTable } from "./layout.ts";
import type { Row } from "./session.ts";
import { literal, name, numberArray, qualified } from "./sql.ts";

/** Changes as they were read, and the transactions that had made them so: a change of one of them has another since. */
export interface ReadChanges {
  readonly rows: readonly Row[];
  readonly versions: readonly string[];
}

/**
 * All NEW changes of these rows, as they are, without a lock; what they held before is told only where their upsert value
 * changed. Null: some have failed before, which brings them back, or delete something, of which there may be too many;
 * those must be claimed by writing.
 */
export async function readWhole(
  { session, tables }: Workbench,
  mapped: MappedTable,
  recordIds: readonly number[],
): Promise<ReadChanges | null> {
  const ofRows = "table_name = $1 AND record_id = ANY ((SELECT $2::bigint[])::bigint[])";
  const anyFailed = `EXISTS (SELECT FROM ${tables.log} f WHERE ${ofRows} AND ${hasFailed("f")} AND NOT superseded)`;
  const { shape, layout } = mapped;
  const rows = await session.query(
    `WITH whole AS MATERIALIZED (
       SELECT id, action, record_id, sfid, ${upsertValueOf(mapped)} AS old, "values", attempts, created_at, xmin::text AS version
       FROM ${tables.log} WHERE ${ofRows} AND processed_at IS NULL AND state = 'NEW'
     )
     SELECT l.id, l.action, l.record_id, l.old, l."values", l.attempts, l.created_at AS captured_at, l.version,
       coalesce(t.sfid, l.sfid) AS sfid, t.xmin::text AS row_version, t.sfid = l.sfid AS has_sfid
     FROM whole l LEFT JOIN ${qualified(shape.schema, shape.table)} t ON t.${name(layout.key)} = l.record_id
     WHERE NOT ${anyFailed}
     ORDER BY l.id`,
    [shape.table, numberArray(recordIds)],
  );
  if (rows.length === 0 || rows.some((row) => row["action"] === "DELETE")) return null;
  return { rows, versions: [...new Set(rows.map((row) => String(row["version"])))] };
}

/** Building an object of each change's old values, to be read again, would cost more than all that is asked of them. */
function upsertValueOf({ shape }: MappedTable): string {
  const column = shape.columns.find(({ field }) => field === shape.upsertField)?.column;
  return column === undefined ? "NULL::jsonb" : `CASE WHEN old ? ${literal(column)} THEN old END`;
}

/** What is taken: all of it, or nothing. */
export interface Taken {
  readonly ids: readonly number[];
  readonly versions: readonly string[];
  /** The batch that is sent with it; null: nothing is sent. */
  readonly batchId: string | null;
}

const BATCH = { id: "$7", table: "$10", ids: "$4::bigint[]", where: "EXISTS (SELECT FROM taken)" };

/**
 * Makes changes PENDING that were read before, if every one is still as it was read and held by nobody; else
 * `ChangedMeanwhile`, and nothing has happened. One round trip, which renews the lease where it is told for how long.
 */
export async function takeRead(
  { session, tables, mapped, now }: Workbench,
  lease: Lease,
  { ids, versions, batchId }: Taken,
  leaseSeconds: number | null = null,
): Promise<Renewal> {
  const [row] = await session.query<{ taken: number; is_aborted: boolean | null }>(
    `WITH lease AS (${renewal(tables, lease, "$9")}), unchanged AS MATERIALIZED (
       SELECT id FROM ${tables.log} WHERE id = ANY ((SELECT $4::bigint[])::bigint[])
         AND CASE WHEN state = 'NEW' THEN xmin = ANY ($5::xid[]) ELSE false END
         AND EXISTS (SELECT FROM lease WHERE NOT is_aborted)
       FOR NO KEY UPDATE SKIP LOCKED
     ), taken AS (
       UPDATE ${tables.log} SET state = 'PENDING', fence = $2, updated_at = $6, batch_id = $7,
         sent_at = CASE WHEN $7::text IS NOT NULL THEN $6::timestamptz END, last_operation = NULL, due_at = NULL
       WHERE id = ANY (ARRAY(SELECT id FROM unchanged)) AND (SELECT count(*) FROM unchanged) = $8
       RETURNING id
     )${batchId === null ? "" : `, named AS (${nameInHand(tables, BATCH)})`}
     SELECT (SELECT count(*) FROM taken) AS taken, (SELECT is_aborted FROM lease) AS is_aborted`,
    [
      lease.mappingId,
      lease.fence,
      lease.configVersion,
      numberArray(ids),
      `{${versions.join(",")}}`,
      now(),
      batchId,
      ids.length,
      leaseSeconds,
      ...(batchId === null ? [] : [mapped(lease).shape.table]),
    ],
  );
  if (row?.is_aborted) return "aborted";
  if (typeof row?.is_aborted !== "boolean") throw new LeaseLost(lease);
  if (row.taken !== ids.length) throw new ChangedMeanwhile(lease);
  return "held";
}
