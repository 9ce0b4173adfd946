import { deletedImage } from "../../../model/record/record.ts";
import { type Lease, WriteUndone } from "../../../sync/ports/lease-ports.ts";
import { instant, iso, type StoreContext } from "../session/sql.ts";
import { LOCK_NOT_AVAILABLE } from "../session/sql-errors.ts";
import { apply } from "./apply.ts";

const DELETES_AT_ONCE = 2_000;

/**
 * Carries out the deletes of rows that an operator has confirmed, by what is known of their rows by now. A row that a
 * transaction of the customer holds stays confirmed, for the next cycle.
 */
export async function applyConfirmedDeletes(store: StoreContext, lease: Lease): Promise<void> {
  const { session, tables } = store;
  for (let after = ""; ; ) {
    const confirmed = await session.query(
      `SELECT sfid, ${iso("stamp")} AS stamp, ${iso("read_at")} AS read_at FROM ${tables.heldDeletes}
       WHERE mapping_id = $1 AND confirmed AND sfid::text > $2 ORDER BY sfid LIMIT ${DELETES_AT_ONCE}`,
      [lease.mappingId, after],
    );
    if (confirmed.length === 0) return;
    after = String(confirmed.at(-1)?.["sfid"]);
    const images = confirmed.map((row) =>
      deletedImage({ sfid: String(row["sfid"]), systemModstamp: instant(row, "stamp") ?? new Date(0) }),
    );
    const readAt = new Date(Math.min(...confirmed.map((row) => (instant(row, "read_at") ?? new Date(0)).getTime())));
    await apply(store, lease, { images, readAt, lane: "deleted", marks: {} });
    // Rows that were undeleted or pushed since stay; nothing is left to confirm of them either.
    const those = `FROM ${tables.heldDeletes} h WHERE mapping_id = $1 AND sfid::text = ANY ($2::text[]) AND NOT EXISTS (
         SELECT FROM ${tables.inboundErrors} e WHERE e.mapping_id = $1 AND e.sfid::text = h.sfid::text AND e.sqlstate = $3)`;
    const [row] = await session.query(
      `WITH gone AS (DELETE ${those} RETURNING sfid) SELECT (SELECT count(*) FROM gone) = count(*) AS "areGone" ${those}`,
      [lease.mappingId, images.map(({ sfid }) => sfid), LOCK_NOT_AVAILABLE],
    );
    if (row?.["areGone"] !== true) throw new WriteUndone(tables.heldDeletes);
  }
}
