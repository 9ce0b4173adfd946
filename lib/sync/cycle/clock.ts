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

/** Waits for something that cannot fail, but no longer than so many milliseconds of this time. */
export async function waitBriefly(clock: Clock, milliseconds: number, until: Promise<void>): Promise<void> {
  const tooLong = Promise.withResolvers<void>();
  const cancel = clock.at(clock.now() + milliseconds, () => tooLong.resolve());
  await Promise.race([until, tooLong.promise]);
  cancel();
}
