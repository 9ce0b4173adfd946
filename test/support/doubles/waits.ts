import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../../lib/sync/ports/cycle-ports.ts";

/** Knows who waits for time that is moved by hand: the org's held commits, and the timers of cycles. */
export type Waits = ReturnType<typeof createWaits>;

export function createWaits() {
  const count = { calls: 0, saves: 0, sleeps: 0, heldSaves: 0, timers: 0 };
  let changed = Promise.withResolvers<void>();
  const tell = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  /** Counts as long as the work continues. */
  const during = async <Answer>(what: readonly (keyof typeof count)[], run: () => Promise<Answer>): Promise<Answer> => {
    for (const one of what) count[one] += 1;
    tell();
    try {
      return await run();
    } finally {
      for (const one of what) count[one] -= 1;
      tell();
    }
  };
  const until = async (isSo: () => boolean) => {
    for (;;) {
      const next = changed.promise;
      // What has just ended continues in this turn, and may make its next call.
      await nextTurn();
      if (isSo()) return;
      await next;
    }
  };
  return {
    /** Resolves when the org holds something up. */
    untilHeldUp: () => {
      const before = count.sleeps;
      return until(() => count.sleeps > before);
    },
    /** Resolves when a cycle cannot continue without time: its save is held up, or it makes no call and a timer of it is set. */
    untilTimeIsNeeded: () => until(() => count.heldSaves > 0 || (count.calls === 0 && count.timers > 0)),
    /** A sleep of the org. */
    sleep: <Answer>(begin: () => Promise<Answer>) =>
      during(count.saves > 0 ? ["sleeps", "heldSaves"] : ["sleeps"], begin),
    /** A call of a cycle to its database or its org. */
    call: <Answer>(name: string, run: () => Promise<Answer>) =>
      during(name === "org.write" ? ["calls", "saves"] : ["calls"], run),
    /** A clock whose timers are those of a cycle. */
    timed: (clock: Clock): Clock => ({
      now: clock.now,
      at: (epochMilliseconds, run) => {
        const ended = Promise.withResolvers<void>();
        void during(["timers"], () => ended.promise);
        const cancel = clock.at(epochMilliseconds, () => {
          ended.resolve();
          return run();
        });
        return () => {
          ended.resolve();
          cancel();
        };
      },
    }),
  };
}
