import { ChangedMeanwhile, type Lease, LeaseLost, type Renewal } from "../../sync/cycle/ports.ts";
import { renewal, type Workbench } from "./lease/fence.ts";
import { nameInHand } from "./log/pending-registry.ts";
import { numberArray } from "./session/sql.ts";

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
