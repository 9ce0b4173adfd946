import type { Image } from "../../../model/record/record.ts";
import type { Lease } from "../../../sync/ports/lease-ports.ts";
import type { StoreContext } from "../session/sql.ts";
import { LOCK_MILLISECONDS } from "./apply-images.ts";
import { compareRows } from "./compare-rows.ts";
import { type LockedRow, lockByUpsertField, lockRows } from "./page-context.ts";

/**
 * Sorts the records of a page, without a lock on any row: `met` are those that have a row, `fresh` those that have none.
 * A record is left out when its row has its stamp and its values, no change of the row waits, and nothing else is known
 * of it: mostly our own save, read again. What the application writes from then on is captured, and such a record says
 * nothing about it.
 */
export async function sortImages(store: StoreContext, lease: Lease, all: readonly Image[]) {
  const mapped = store.mapped(lease);
  const images = newestOfEach(all);
  return await store.session.transaction({ lockMilliseconds: LOCK_MILLISECONDS }, "SELECT", async () => {
    const { rows } = await lockRows(store, mapped, images, "");
    const bySfid = new Map(rows.map((row) => [row.sfid, row]));
    const rowless = images.filter(({ sfid, isDeleted }) => !isDeleted && !bySfid.has(sfid));
    const byUpsert = await lockByUpsertField(store, mapped, rowless, "");
    const shown = await shownImages(store, lease, images, bySfid);
    const left = images.filter(({ sfid }) => !shown.has(sfid));
    const isMet = ({ sfid }: Image) => bySfid.has(sfid) || byUpsert.has(sfid);
    const { met = [], fresh = [] } = Object.groupBy(left, (image) => (isMet(image) ? "met" : "fresh"));
    return { met, fresh, unchanged: shown.size };
  });
}

/** A page may hold a record twice when it changed between two of Salesforce's pages. */
function newestOfEach(images: readonly Image[]): readonly Image[] {
  if (new Set(images.map(({ sfid }) => sfid)).size === images.length) return images;
  const newest = new Map<string, Image>();
  for (const image of images) {
    const other = newest.get(image.sfid);
    if (!other || other.systemModstamp <= image.systemModstamp) newest.set(image.sfid, image);
  }
  return [...newest.values()];
}

/** The ids of the records that their rows show already. */
async function shownImages(
  store: StoreContext,
  lease: Lease,
  images: readonly Image[],
  bySfid: ReadonlyMap<string | null, LockedRow>,
): Promise<ReadonlySet<string>> {
  const same = images.filter(({ sfid, systemModstamp, isDeleted }) => {
    const stamp = bySfid.get(sfid)?.stamp;
    return !isDeleted && stamp?.getTime() === systemModstamp.getTime();
  });
  if (same.length === 0) return new Set();
  const keys = same.map(({ sfid }) => bySfid.get(sfid)?.key ?? 0);
  const waiting = await store.session.query<{ record_id: number }>(
    `SELECT record_id FROM ${store.tables.log} WHERE table_name::text = $1 AND processed_at IS NULL AND record_id = ANY ((SELECT $2::bigint[])::bigint[])`,
    [store.mapped(lease).shape.table, keys],
  );
  const waits = new Set(waiting.map(({ record_id }) => Number(record_id)));
  // The last statement: a value that a column refuses ends the transaction.
  const { differing } = await compareRows(store, lease, same, Math.max(...keys));
  return new Set(same.flatMap(({ sfid }, at) => (waits.has(keys[at] ?? 0) || differing.has(sfid) ? [] : [sfid])));
}
