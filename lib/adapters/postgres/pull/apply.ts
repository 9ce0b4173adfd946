import { chunks } from "../../../model/chunks.ts";
import type { Image } from "../../../model/record/record.ts";
import type { Lease } from "../../../sync/ports/lease-ports.ts";
import type { Applied, Page } from "../../../sync/ports/pull-ports.ts";
import { retry } from "../../retry.ts";
import type { StoreContext } from "../session/sql.ts";
import {
  isClash,
  isLockRefused,
  isRefusedValue,
  LOCK_NOT_AVAILABLE,
  messageOf,
  sqlState,
} from "../session/sql-errors.ts";
import { isTableLocked } from "../session/table-lock.ts";
import { applyFresh, applyImages, busyUntil, NOTHING } from "./apply-images.ts";
import { type InboundError, keepInboundErrors } from "./inbound-errors.ts";
import { sortImages } from "./sort-images.ts";

/** Rows that one transaction of a page locks at most: the application waits for its end to write one of them. */
const ROWS_AT_ONCE = 200;

/** Further tries when two transactions block each other. */
const ATTEMPTS = 3;

/**
 * A page of records becomes rows, a slice of them in a transaction, the watermarks with the last. What a slice lacks
 * may come with the rest of the page, so where the database refuses a value, that rest is one transaction, and if that
 * is refused as well, it is applied in pieces until each refused record is alone. Those are kept in
 * `_bridge_inbound_errors` with the watermarks. While the whole table is locked no record is to blame: that rejects, and
 * the page comes again.
 */
export async function apply(store: StoreContext, lease: Lease, page: Page): Promise<Applied> {
  if (page.images.length === 0) return await whole(store, lease, page);
  const asOne = page.lane === "load" ? await fresh(store, lease, page) : null;
  if (asOne) return asOne;
  const { met, fresh: others, unchanged } = await sortImages(store, lease, page.images);
  const slices = [...chunks(met, ROWS_AT_ONCE), others].filter(({ length }) => length > 0);
  return await inSlices(store, lease, { ...page, images: [] }, slices, { ...NOTHING, unchanged });
}

/** A page of new rows; null: it is none, or the database refuses one of them. */
async function fresh(store: StoreContext, lease: Lease, page: Page): Promise<Applied | null> {
  try {
    return await retry(ATTEMPTS, isClash, () => applyFresh(store, lease, page));
  } catch (error) {
    if (await isRecords(store, lease, error)) return null;
    throw error;
  }
}

async function inSlices(
  store: StoreContext,
  lease: Lease,
  page: Page,
  slices: readonly (readonly Image[])[],
  before: Applied,
): Promise<Applied> {
  let applied = before;
  for (const [at, images] of (slices.length > 0 ? slices : [[]]).entries()) {
    const [, ...later] = slices.slice(at);
    try {
      applied = sum(applied, await whole(store, lease, { ...page, images, marks: later.length > 0 ? {} : page.marks }));
    } catch (error) {
      if (images.length === 0 || !(await isRecords(store, lease, error))) throw error;
      const rest = [...images, ...later.flat()];
      if (later.length > 0) return await inSlices(store, lease, page, [rest], applied);
      return sum(applied, await inPieces(store, lease, { ...page, images: rest }, error));
    }
  }
  return applied;
}

/**
 * Whether a record, or a row that blocks it, is why a page was refused. A trigger that is broken itself (42) would
 * refuse each of them: they come again when it is repaired.
 */
async function isRecords(store: StoreContext, lease: Lease, error: unknown): Promise<boolean> {
  if (isLockRefused(error)) return !(await isTableLocked(store, lease));
  return isRefusedValue(error) && sqlState(error)?.startsWith("42") !== true;
}

/** Each further try knows more of what blocked the one before. */
async function whole(store: StoreContext, lease: Lease, page: Page): Promise<Applied> {
  const attempt = (skipsLocked: boolean, makesRoom: boolean) =>
    retry(ATTEMPTS, isClash, () => applyImages(store, lease, page, { skipsLocked, makesRoom }));
  try {
    return await attempt(false, false);
  } catch (error) {
    if (isLockRefused(error)) return await attempt(true, false);
    if (!isTaken(error) || page.images.length === 1) throw error;
    return await attempt(false, true);
  }
}

/** A value that another row has; maybe one that this page would take from it. */
const isTaken = (error: unknown): boolean => sqlState(error) === "23505";

/**
 * A piece that is refused holds a culprit, which is looked for by halves; after it a piece is as long as the good records
 * before it were. One culprit among n takes about 2 log n transactions, and a page of nothing else one for each.
 */
async function inPieces(store: StoreContext, lease: Lease, page: Page, refusal: unknown): Promise<Applied> {
  const [only, ...others] = page.images;
  if (only && others.length === 0) return await keep(store, lease, page, NOTHING, [culpritOf(store, only, refusal)]);
  const culprits: InboundError[] = [];
  let applied = NOTHING;
  let [at, suspectsEnd, stride, good] = [0, page.images.length, 0, 0];
  while (at < page.images.length) {
    const size = at < suspectsEnd ? Math.ceil((suspectsEnd - at) / 2) : Math.max(1, stride, good);
    const images = page.images.slice(at, at + size);
    const [first] = images;
    try {
      applied = sum(applied, await whole(store, lease, { ...page, images, marks: {} }));
      at += images.length;
      good += images.length;
    } catch (error) {
      if (!first || !(await isRecords(store, lease, error))) throw error;
      suspectsEnd = at + images.length;
      if (images.length > 1) continue;
      culprits.push(culpritOf(store, first, error));
      at += 1;
      [stride, good] = [good, 0];
    }
  }
  return await keep(store, lease, page, applied, culprits);
}

const culpritOf = (store: StoreContext, { sfid }: Image, error: unknown): InboundError => ({
  sfid,
  error: messageOf(error),
  sqlState: sqlState(error),
  // What waited for a transaction of the customer may well succeed after it.
  retryAt: isLockRefused(error) ? busyUntil(store) : null,
});

async function keep(
  store: StoreContext,
  lease: Lease,
  { marks }: Page,
  applied: Applied,
  culprits: readonly InboundError[],
): Promise<Applied> {
  await keepInboundErrors(store, lease, marks, culprits);
  const busy = culprits.filter((culprit) => culprit.sqlState === LOCK_NOT_AVAILABLE).length;
  return sum(applied, { ...NOTHING, rejected: culprits.length, busy });
}

function sum(a: Applied, b: Applied): Applied {
  return {
    inserted: a.inserted + b.inserted,
    updated: a.updated + b.updated,
    deleted: a.deleted + b.deleted,
    unchanged: a.unchanged + b.unchanged,
    reread: [...a.reread, ...b.reread],
    rejected: a.rejected + b.rejected,
    busy: a.busy + b.busy,
    conflicts: a.conflicts + b.conflicts,
    heldDeletes: a.heldDeletes + b.heldDeletes,
    suspects: both(a.suspects, b.suspects),
  };
}

function both(a: Applied["suspects"], b: Applied["suspects"]): Applied["suspects"] {
  if (a === null || b === null) return a ?? b;
  return {
    sfids: [...a.sfids, ...b.sfids],
    firstSentAt: new Date(Math.min(a.firstSentAt.getTime(), b.firstSentAt.getTime())),
    lastSentAt: new Date(Math.max(a.lastSentAt.getTime(), b.lastSentAt.getTime())),
  };
}
