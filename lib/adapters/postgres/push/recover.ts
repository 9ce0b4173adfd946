import { BULK_PREFIX } from "../../../model/change/bulk-batch.ts";
import { REWOUND } from "../../../model/change/rewound.ts";
import type { Doubt, Recovered } from "../../../sync/ports/doubt-ports.ts";
import type { Lease } from "../../../sync/ports/lease-ports.ts";
import { fenced } from "../lease/fence.ts";
import { changeOf, changesFrom } from "../log/change-rows.ts";
import { forgetHandled, isClaimed, UNCLAIMED_STATE } from "../log/change-states.ts";
import { applyConfirmedDeletes } from "../pull/confirmed-deletes.ts";
import { endedInDoubt } from "../pull/in-doubt-inserts.ts";
import { iso, type MappedTable, type Metadata, type Row, readInstant, type StoreContext } from "../session/sql.ts";
import { writeBackRows } from "./write-back.ts";

/**
 * What cycles before this one left behind. PENDING changes that were never marked sent are NEW again; the others
 * become, with what they carry, this cycle's, in doubt, one for each row's part of a batch; jobs of the Bulk API, which
 * may be large and are most likely still at work, are only named. What was restored waits for a person. Results that could not be written back are written
 * now, and deletes that an operator has confirmed are carried out.
 */
export async function recover(store: StoreContext, lease: Lease): Promise<Recovered> {
  const { session, tables, now } = store;
  const mapped = store.mapped(lease);
  const { rows, jobs } = await fenced(store, lease, { silent: true }, async () => {
    await writeBackRows(store, mapped);
    const rows = await session.query(
      `WITH unsent AS (
         UPDATE ${tables.log} l SET state = ${UNCLAIMED_STATE}, fence = NULL, updated_at = $3
         WHERE l.table_name::text = $1 AND ${ofTable(tables, "l")} AND l.fence <> $2 AND (l.sent_at IS NULL OR ${endedInDoubt("l")})
       ), doubtful AS (
         UPDATE ${tables.log} l SET fence = $2
         WHERE l.table_name::text = $1 AND ${ofTable(tables, "l")} AND l.sent_at IS NOT NULL
           AND NOT ${endedInDoubt("l")} AND NOT starts_with(coalesce(l.batch_id, ''), $4) AND l.batch_id IS DISTINCT FROM $5
         RETURNING l.*
       )
       ${changesFrom("doubtful", mapped)}`,
      [mapped.shape.table, lease.fence, now(), BULK_PREFIX, REWOUND],
    );
    await session.query(forgetHandled(tables), [mapped.shape.table]);
    return { rows, jobs: await jobsAtWork(store, mapped) };
  });
  await applyConfirmedDeletes(store, lease);
  return { doubts: doubtsOf(rows), jobs };
}

const ofTable = (tables: Metadata, alias: string): string => isClaimed(tables, alias, "table_name::text = $1");

async function jobsAtWork({ session, tables }: StoreContext, { shape }: MappedTable): Promise<Recovered["jobs"]> {
  const rows = await session.query(
    `SELECT batch_id, ${iso("min(sent_at)")} AS sent_at, ${iso("max(updated_at)")} AS looked_at FROM ${tables.log} l
     WHERE table_name::text = $1 AND ${ofTable(tables, "l")} AND starts_with(batch_id, $2)
     GROUP BY batch_id ORDER BY min(sent_at)`,
    [shape.table, BULK_PREFIX],
  );
  return rows.map((row) => ({
    batchId: String(row["batch_id"]),
    sentAt: new Date(String(row["sent_at"])),
    lookedAt: new Date(String(row["looked_at"])),
  }));
}

/** What is still in doubt of one batch, now this cycle's. */
export async function doubtsIn(store: StoreContext, lease: Lease, batchId: string): Promise<Doubt[]> {
  const mapped = store.mapped(lease);
  const rows = await fenced(store, lease, {}, () =>
    store.session.query(
      `WITH doubtful AS (
         UPDATE ${store.tables.log} l SET fence = $2
         WHERE l.table_name::text = $1 AND ${ofTable(store.tables, "l")} AND l.batch_id = $3
         RETURNING l.*
       )
       ${changesFrom("doubtful", mapped)}`,
      [mapped.shape.table, lease.fence, batchId],
    ),
  );
  return doubtsOf(rows);
}

/** The first change of a batch stores when its job was last polled. */
export async function noteLook({ session, tables, mapped, now }: StoreContext, lease: Lease, batchId: string) {
  await session.query(
    `UPDATE ${tables.log} SET updated_at = $3 WHERE id = (SELECT min(id) FROM ${tables.log} l
       WHERE table_name::text = $1 AND ${ofTable(tables, "l")} AND batch_id = $2)`,
    [mapped(lease).shape.table, batchId, now()],
  );
}

export function doubtsOf(rows: readonly Row[]): Doubt[] {
  const doubts = Map.groupBy(rows, (row) => `${row["batch_id"]} ${row["record_id"]}`);
  return [...doubts.values()].map((ofOne) => ({
    changes: ofOne.map(changeOf),
    sentAt: readInstant(ofOne[0]?.["sent_at"] as Date),
    batchId: String(ofOne[0]?.["batch_id"]),
  }));
}
