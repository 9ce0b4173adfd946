/** Time as the sync room sees it, so that tests can move it by hand. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Runs something at an epoch millisecond; the answer takes it back. */
  at(epochMilliseconds: number, run: () => unknown): () => void;
}

/** Waits so many milliseconds of this time. */
export const pause = (clock: Clock, milliseconds: number): Promise<void> =>
  new Promise((resolve) => void clock.at(clock.now() + milliseconds, () => resolve()));
