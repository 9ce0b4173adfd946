import type { Clock, CycleStore } from "../ports/cycle-ports.ts";
import { type Lease, LeaseLost, type Renewal } from "../ports/lease-ports.ts";

/**
 * A lease that is not renewed ends after this long, also when its holder is dead: PostgreSQL cannot know that sooner,
 * because a frozen invocation keeps its connection to the database, and a pooler keeps that of a dead one.
 */
export const LEASE_SECONDS = 30;

const RENEW_EVERY_MILLISECONDS = 10_000;

/** Nothing is saved unless the lease was renewed this recently. */
const FRESH_MILLISECONDS = 5_000;

/** Between pages a renewal this recent is good enough. */
const RECENT_MILLISECONDS = 1_000;

/** A save may take 110 s, and what it answered must still be written down. */
const SAVE_MILLISECONDS = 120_000;

/** A read is begun only if it may take at least 15 s, and its page can still be applied after it. */
const READ_MILLISECONDS = 30_000;
const APPLY_MILLISECONDS = 15_000;

/** The longest read: Salesforce itself ends a query after two minutes. */
const LONGEST_READ_MILLISECONDS = 110_000;

/** Why a cycle ends before its work does. None of them is an error: what is left stays for the next cycle. */
export type StopReason = "aborted" | "lost" | "out of time" | "paused";

/** Thrown where a cycle must stop. */
class CycleStopped extends Error {
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(`the cycle stops: ${reason}`);
    this.name = "CycleStopped";
    this.reason = reason;
  }
}

/** How a cycle ended: well, stopped before its work was done, or by an error. */
export interface End {
  readonly stopped: StopReason | null;
  readonly error: unknown;
}

/** The end of a cycle that did all its work. */
export const ENDED_WELL: End = { stopped: null, error: null };

/** The end of a cycle whose work threw this. */
export function endBy(error: unknown): End {
  if (error instanceof LeaseLost) return { stopped: "lost", error: null };
  return error instanceof CycleStopped ? { stopped: error.reason, error: null } : { stopped: null, error };
}

/** One cycle's hold on its lease. */
export interface LeaseGuard {
  /** Between pages: returns, or throws `CycleStopped`. */
  mayRead(): Promise<void>;
  /**
   * The last step before a save: the lease is ours as of now, no abort was requested, and there is time for the save.
   * `mark` renews the lease by so many seconds and marks the changes that the save will send; its answer is less than
   * five seconds old.
   */
  maySave(mark?: (leaseSeconds: number) => Promise<Renewal>): Promise<void>;
  /** Renews the lease while a call is under way; the call receives how many milliseconds it may read. */
  during<Answer>(call: (readMilliseconds: number) => Promise<Answer>): Promise<Answer>;
}

/**
 * Holds a lease that was acquired just now, until `deadline` (epoch milliseconds), when the invocation ends, or until a
 * pause.
 */
export function guardLease(
  store: CycleStore,
  lease: Lease,
  clock: Clock,
  deadline: number,
  isPaused = async () => false,
): LeaseGuard {
  let renewedAt = clock.now();

  const renew = async (ask = (leaseSeconds: number) => store.renew(lease, leaseSeconds)) => {
    const askedAt = clock.now();
    const answer = await ask(LEASE_SECONDS);
    if (answer !== "held") throw new CycleStopped(answer);
    renewedAt = Math.max(renewedAt, askedAt);
  };

  const untilDeadline = (neededMilliseconds: number) => {
    if (deadline - clock.now() < neededMilliseconds) throw new CycleStopped("out of time");
  };

  const unlessPaused = async () => {
    if (await isPaused()) throw new CycleStopped("paused");
  };

  return {
    mayRead: async () => {
      await unlessPaused();
      untilDeadline(READ_MILLISECONDS);
      if (clock.now() - renewedAt >= RECENT_MILLISECONDS) await renew();
    },
    maySave: async (mark) => {
      await unlessPaused();
      untilDeadline(SAVE_MILLISECONDS);
      await renew(mark);
      untilDeadline(0);
      if (clock.now() - renewedAt >= FRESH_MILLISECONDS) await renew();
      if (clock.now() - renewedAt > FRESH_MILLISECONDS) throw new CycleStopped("lost");
    },
    during: async (call) => {
      const stop = every(clock, RENEW_EVERY_MILLISECONDS, () => renew());
      try {
        const left = deadline - clock.now() - APPLY_MILLISECONDS;
        return await call(Math.min(LONGEST_READ_MILLISECONDS, Math.max(APPLY_MILLISECONDS, left)));
      } finally {
        stop();
      }
    },
  };
}

/** Repeats until it is stopped or fails: a lease that could not be renewed is noticed by the next write, which it fences. */
function every(clock: Clock, milliseconds: number, run: () => Promise<void>): () => void {
  let stopped = false;
  let cancel = () => {};
  const book = () => {
    if (!stopped) cancel = clock.at(clock.now() + milliseconds, () => run().then(book, () => {}));
  };
  book();
  return () => {
    stopped = true;
    cancel();
  };
}
