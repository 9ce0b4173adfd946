import type { Cycle } from "../cycle/cycle.ts";
import { type LoadCheckpoint, MOST_IDS } from "../ports/load-ports.ts";
import type { Page } from "../ports/pull-ports.ts";
import { applyImages } from "../pull/read-page.ts";

/** Receives the pages of a reading. */
export interface Taker {
  take(page: Page): Promise<void>;
  /** The records that a sweep has met so far. */
  met(): Pick<LoadCheckpoint, "met" | "differing" | "missing" | "ids">;
}

/** Compares what is read with the rows, which are neither locked nor written where they are equal. */
export function comparing(cycle: Cycle, checkpoint: LoadCheckpoint): Taker {
  const { lastRow = 0, met: before } = checkpoint;
  const { store, lease, tally } = cycle;
  const counts: Record<string, number> = { ...before };
  let [differed, missing] = [checkpoint.differing ?? 0, checkpoint.missing ?? 0];
  const ids = [...(checkpoint.ids ?? [])];
  const met = () => ({ met: { ...counts }, differing: differed, missing, ids: [...ids] });
  return {
    met,
    take: async ({ marks, ...page }) => {
      const { differing, rowless } = await store.compareRows(lease, page.images, lastRow);
      const images = page.images.filter(({ sfid }) => differing.has(sfid));
      tally.read += page.images.length - images.length;
      differed += images.length;
      ids.push(...images.map(({ sfid }) => sfid).slice(0, MOST_IDS - ids.length));
      missing += images.filter(({ sfid }) => rowless.has(sfid)).length;
      if (images.length > 0) await applyImages(cycle, { ...page, images, lane: "sweep", marks: {} });
      for (const { sfid } of page.images) {
        if (!rowless.has(sfid)) counts[bucketOf(sfid)] = (counts[bucketOf(sfid)] ?? 0) + 1;
      }
      if (!marks.load) return;
      await store.apply(lease, { ...page, images: [], marks: { load: { ...marks.load, ...met() } } });
    },
  };
}

/**
 * Where a sweep counts a record: by two characters of its id that differ evenly. All records that were met have a row, so
 * that as many rows are in a bucket as records were met unless there is a row whose record was not.
 */
const bucketOf = (sfid: string): string => sfid.slice(13, 15);
