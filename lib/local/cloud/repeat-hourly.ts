import type { Clock } from "../clock.ts";

/** AWS takes days to delete what has expired; a sweep reads every item. */
const EVERY_MILLISECONDS = 60 * 60_000;

/** Repeats the work each hour of the clock, an hour after it began; the answer ends that once the work under way has ended. */
export function repeatHourly(
  clock: Clock,
  work: () => Promise<unknown>,
  onFault: (fault: unknown) => void,
): () => Promise<void> {
  let running: Promise<unknown> = Promise.resolve();
  const book = () =>
    clock.at(clock.now() + EVERY_MILLISECONDS, () => {
      running = work().catch(onFault);
      cancel = book();
      return running;
    });
  let cancel = book();
  return async () => {
    cancel();
    await running;
  };
}
