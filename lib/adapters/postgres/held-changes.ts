import { allowedDeletes } from "../../model/delete-breaker.ts";
import type { Workbench } from "./fence.ts";
import { isPending } from "./in-hand.ts";
import type { MappedTable } from "./layout.ts";
import type { Row } from "./session.ts";
import { qualified } from "./sql.ts";

/**
 * Holds the deletes among claimed changes that are more than an hour may bring to Salesforce, until an operator
 * confirms. When there are any, everything that was claimed is NEW again, and the answer is true.
 */
export async function holdExcessDeletes(
  bench: Workbench,
  mapped: MappedTable,
  claimId: string,
  claimed: readonly Row[],
): Promise<boolean> {
  const deletes = claimed.filter((row) => row["action"] === "DELETE" && row["sfid"] !== null && !row["confirmed"]);
  if (deletes.length === 0) return false;
  const allowance = await allowanceOfDeletes(bench, mapped, false, deletes.length);
  if (deletes.length <= allowance) return false;
  await bench.session.query(
    `WITH handled AS (DELETE FROM ${bench.tables.inHand} WHERE id = $4)
     UPDATE ${bench.tables.log} SET state = 'NEW', fence = NULL, updated_at = $3, held = id = ANY ($2::bigint[])
     WHERE id = ANY ($1::bigint[])`,
    [claimed.map((row) => row["id"]), deletes.slice(allowance).map((row) => row["id"]), bench.now(), claimId],
  );
  return true;
}

/**
 * How many of the wanted deletes may pass now, on the side of rows (by Salesforce) or of records. The table is counted
 * only when the small allowance is not enough.
 */
export async function allowanceOfDeletes(
  { session, tables, now }: Workbench,
  { shape }: MappedTable,
  bySalesforce: boolean,
  wanted: number,
): Promise<number> {
  const [row] = await session.query<{ recent: number | string }>(
    `SELECT (SELECT count(*) FROM ${tables.tombstones}
         WHERE mapping_id = $1 AND by_salesforce = $2 AND deleted_at > $3::timestamptz - interval '1 hour')
       + (SELECT count(*) FROM ${tables.log} l WHERE NOT $2 AND table_name = $4 AND ${isPending(tables, "l", "table_name = $4")}
         AND action = 'DELETE' AND sent_at IS NOT NULL AND NOT confirmed) AS recent`,
    [shape.mappingId, bySalesforce, now(), shape.table],
  );
  // What is under way, in a job of the Bulk API most likely, passes too.
  const recent = Number(row?.recent ?? 0);
  if (recent + wanted <= allowedDeletes(0)) return wanted;
  const [table] = await session.query<{ rows: number }>(
    `SELECT count(*) AS rows FROM ${qualified(shape.schema, shape.table)}`,
  );
  // Rows that an application deletes are gone already; the table's size is what it was before.
  const rows = (table?.rows ?? 0) + recent + (bySalesforce ? 0 : wanted);
  return Math.max(0, Math.min(wanted, allowedDeletes(rows) - recent));
}
