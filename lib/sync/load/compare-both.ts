import { hash } from "../../model/beat.ts";
import type { Cycle } from "../cycle/cycle.ts";
import { type LoadCheckpoint, MOST_IDS } from "../ports/load-ports.ts";
import type { Page } from "../ports/pull-ports.ts";
import { applyImages, readAgain } from "../pull/read-page.ts";

/** Receives the pages of a reading. */
export interface Taker {
  take(page: Page): Promise<void>;
  /** The records that a sweep has met so far. */
  met(): Pick<LoadCheckpoint, "met" | "differing" | "missing" | "ids">;
}

/** A sweep has found more that differs than is read again by id. */
export class MuchDiffers extends Error {}

/** So many records, of 2,000 a call: for more a job of all fields is the fewer calls. */
const MOST_READ_AGAIN = 40_000;

const DAY_MILLISECONDS = 86_400_000;

/**
 * Large objects are compared by id, stamp and the values that a stamp does not cover, and in one sweep of seven by all
 * values: only those show a write that no trigger saw. Each mapping has its own day.
 */
export function isWholeToday({ clock, mapping }: Cycle): boolean {
  return (Math.floor(clock.now() / DAY_MILLISECONDS / mapping.sweepDays) + hash(mapping.id)) % 7 === 0;
}

/** Compares what is read with the rows, which are neither locked nor written where they are equal. */
export function comparing(cycle: Cycle, checkpoint: LoadCheckpoint): Taker {
  const { lastRow = 0, narrow, met: before } = checkpoint;
  const { store, lease, tally } = cycle;
  const counts: Record<string, number> = { ...before };
  let [found, differed, missing] = [0, checkpoint.differing ?? 0, checkpoint.missing ?? 0];
  const ids = [...(checkpoint.ids ?? [])];
  const met = () => ({ met: { ...counts }, differing: differed, missing, ids: [...ids] });
  return {
    met,
    take: async ({ marks, ...page }) => {
      const { differing, rowless } = await store.compareRows(lease, page.images, lastRow);
      const images = page.images.filter(({ sfid }) => differing.has(sfid));
      tally.read += page.images.length - images.length;
      found += images.length;
      differed += images.length;
      ids.push(...images.map(({ sfid }) => sfid).slice(0, MOST_IDS - ids.length));
      missing += images.filter(({ sfid }) => rowless.has(sfid)).length;
      if (narrow && found > MOST_READ_AGAIN) throw new MuchDiffers();
      if (narrow) await readAgain(cycle, [...differing], "slow");
      else if (images.length > 0) await applyImages(cycle, { ...page, images, lane: "sweep", marks: {} });
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
