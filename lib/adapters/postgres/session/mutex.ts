/** Does one thing at a time, in the order in which it was asked for. */
export type PriorityQueue = <T>(work: () => Promise<T>) => Promise<T>;

/** Turns for one connection. */
export function createPriorityQueue(): PriorityQueue {
  let last: Promise<void> = Promise.resolve();
  return async (work) => {
    const before = last;
    const turn = Promise.withResolvers<void>();
    last = turn.promise;
    await before;
    try {
      return await work();
    } finally {
      turn.resolve();
    }
  };
}
