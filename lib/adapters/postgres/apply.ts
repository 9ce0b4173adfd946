import type { Image } from "../../model/record.ts";
import type { Applied, Lease, Page } from "../../sync/ports.ts";
import { applyImages, NOTHING } from "./apply-images.ts";
import type { Workbench } from "./fence.ts";
import { keepInboundErrors } from "./inbound-errors.ts";
import { isClash, isLockRefused, patiently, sqlState } from "./patience.ts";

/** How long a page waits for a row that a transaction of the customer holds; then it does without that row. */
const LOCK_MILLISECONDS = 2_000;
/** Further tries when two transactions stand in each other's way. */
const ATTEMPTS = 3;

/**
 * A page of records becomes rows. It is one transaction unless the database refuses a value: then the page is halved
 * until the culprit stands alone, which is kept in `_bridge_inbound_errors`, and the marks are committed last.
 */
export async function apply(bench: Workbench, lease: Lease, page: Page): Promise<Applied> {
  try {
    return await whole(bench, lease, page);
  } catch (error) {
    if (!isRefusedValue(error)) throw error;
    return await halved(bench, lease, page, error);
  }
}

/** Each further try knows more of what stood in the way of the one before. */
async function whole(bench: Workbench, lease: Lease, page: Page): Promise<Applied> {
  const attempt = (skipsLocked: boolean, makesRoom: boolean) =>
    patiently(ATTEMPTS, isClash, () =>
      applyImages(bench, lease, page, { lockMilliseconds: LOCK_MILLISECONDS, skipsLocked, makesRoom }),
    );
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

async function halved(bench: Workbench, lease: Lease, page: Page, error: unknown): Promise<Applied> {
  const { images } = page;
  const [culprit] = images;
  if (culprit === undefined) throw error;
  if (images.length === 1) return await rejected(bench, lease, page, culprit, error);
  const middle = Math.ceil(images.length / 2);
  const first = await apply(bench, lease, { ...page, images: images.slice(0, middle), marks: {} });
  return sum(first, await apply(bench, lease, { ...page, images: images.slice(middle) }));
}

async function rejected(bench: Workbench, lease: Lease, page: Page, culprit: Image, error: unknown): Promise<Applied> {
  await keepInboundErrors(bench, lease, page.marks, [
    { sfid: culprit.sfid, error: messageOf(error), sqlState: sqlState(error), retryAt: null },
  ]);
  return { ...NOTHING, rejected: 1 };
}

/**
 * Data exceptions, broken constraints, texts that PostgreSQL or an index cannot hold (54), and refusals by the customer's
 * triggers (20, 21, 38, 39, P0). https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
function isRefusedValue(error: unknown): boolean {
  const state = sqlState(error);
  return state !== null && (/^(20|21|22|23|38|39|44|54|P0)/.test(state) || isLockRefused(error));
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

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
