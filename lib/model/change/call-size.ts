import { BATCH_SIZE } from "./ways.ts";

/** How many records the last calls took that the org's own code could bear, and since when. */
export interface LearnedSize {
  readonly size: number;
  readonly at: Date;
}

/** The limit is doubled after each such time, until all go together again. */
const DOUBLES_EVERY_MILLISECONDS = 3_600_000;

/** Records of one call now, at most `most`. */
export function sizeNow(most: number, learned: LearnedSize | null, now: Date): number {
  if (learned === null) return most;
  const steps = Math.max(0, Math.floor((now.getTime() - learned.at.getTime()) / DOUBLES_EVERY_MILLISECONDS));
  return Math.min(most, learned.size * 2 ** steps);
}

/** The operator's message about it, with the remedy. */
export const reportCallSize = (size: number, sfObject: string) => ({
  message: `triggers or flows of ${sfObject} exceeded a limit of Apex, so one call saves ${size} records; twice as many are tried every hour`,
  remedy:
    "change them so that they handle 200 records in one call; until then, a smaller batch_size of the mapping avoids the tries",
});

/** Records that exceed a limit alone, one after the other and none accepted between: then size is not what is wrong. */
const SUSPECTS = 3;

/**
 * How many records go in one call, while a push finds out how many triggers and flows of the org can bear together: Apex's
 * limits are of a whole call (Apex Developer Guide, Execution Governors and Limits).
 */
export class CallSize {
  readonly #most: number;
  #size: number;
  #learned: number | null = null;
  #alone = 0;

  constructor(most = BATCH_SIZE) {
    this.#most = most;
    this.#size = most;
  }

  get size(): number {
    return this.#size;
  }

  /** What is stored; null: no call was too large. */
  get learned(): number | null {
    return this.#learned;
  }

  /**
   * So many records together have exceeded a limit; a job saves them 200 at a time. False: smaller calls will not help, and
   * they are refused.
   */
  halve(records: number): boolean {
    const together = Math.min(records, BATCH_SIZE);
    if (together > 1 && this.#alone < SUSPECTS) {
      if (together <= this.#size) this.#size = Math.ceil(together / 2);
      this.#learned = this.#size;
      return true;
    }
    // One record that exceeds the limit alone says nothing of the others.
    this.#learned = null;
    this.#alone += 1;
    if (this.#alone >= SUSPECTS) this.#size = this.#most;
    return false;
  }

  /** Records of a call were accepted. */
  accept(): void {
    this.#alone = 0;
    if (this.#learned === null) this.#size = Math.min(this.#most, this.#size * 2);
  }
}
