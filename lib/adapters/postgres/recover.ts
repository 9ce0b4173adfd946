import type { Doubt, Lease } from "../../sync/ports.ts";
import { changeOf, changesFrom } from "./claimed-changes.ts";
import { applyConfirmedDeletes } from "./confirmed-deletes.ts";
import { fenced, type Workbench } from "./fence.ts";
import { writeOwedRows } from "./owed-rows.ts";
import type { Row } from "./session.ts";

/**
 * What cycles before this one left behind. PENDING changes that were never marked sent are NEW again; the others become
 * this cycle's, one doubt for each row's part of a batch. Rows that could not be told their result are told, and deletes
 * that an operator has confirmed are carried out.
 */
export async function recover(bench: Workbench, lease: Lease): Promise<Doubt[]> {
  const { session, tables, now } = bench;
  const mapped = bench.mapped(lease);
  const rows = await fenced(bench, lease, { silent: true }, async () => {
    await writeOwedRows(bench, mapped);
    return await session.query(
      `WITH unsent AS (
         UPDATE ${tables.log} l SET state = 'NEW', fence = NULL, updated_at = $3
         WHERE l.table_name = $1 AND l.processed_at IS NULL AND l.state = 'PENDING' AND l.fence <> $2 AND l.sent_at IS NULL
       ), doubtful AS (
         UPDATE ${tables.log} l SET fence = $2
         WHERE l.table_name = $1 AND l.processed_at IS NULL AND l.state = 'PENDING' AND l.sent_at IS NOT NULL
         RETURNING l.*
       )
       ${changesFrom("doubtful", mapped)}`,
      [mapped.shape.table, lease.fence, now()],
    );
  });
  await applyConfirmedDeletes(bench, lease);
  return doubtsOf(rows);
}

function doubtsOf(rows: readonly Row[]): Doubt[] {
  const doubts = Map.groupBy(rows, (row) => `${row["batch_id"]} ${row["record_id"]}`);
  return [...doubts.values()].map((ofOne) => ({
    changes: ofOne.map(changeOf),
    sentAt: new Date(String(ofOne[0]?.["sent_at"])),
    batchId: String(ofOne[0]?.["batch_id"]),
  }));
}
