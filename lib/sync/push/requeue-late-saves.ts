import { type Cycle, pause } from "../cycle/cycle.ts";
import { LEASE_SECONDS } from "../lease/lease-guard.ts";
import type { PushOutcome } from "../ports/push-ports.ts";
import { failureOf } from "../report/cycle-failure.ts";

/** A newer save that is under way is waited for this long; one in doubt is corrected when it is settled. */
const LOOKS = 10;
const LOOK_AGAIN_MILLISECONDS = 1_000;

/** PostgreSQL is waited for this long, as it comes back from a restart or a failover; an attempt of its own may take 26 s. */
const RETURN_MILLISECONDS = 30_000;
const KNOCK_AGAIN_MILLISECONDS = 1_000;

/**
 * A cycle that was frozen between its last check of the lease and its save, and for longer than a lease lives, may have
 * saved older values over newer ones. No fence keeps that from Salesforce. It finds out here, when its results are not
 * accepted any more, and the newer changes are sent again.
 */
export async function requeueLateSaves(cycle: Cycle, outcomes: readonly PushOutcome[]): Promise<void> {
  const saves = savesIn(outcomes);
  if (saves.length === 0) return;
  let sentAgain = 0;
  for (let look = 1; ; look++) {
    const { again, underWay } = await cycle.store.requeueOverwritten(cycle.lease, saves);
    sentAgain += again;
    if (underWay === 0 || look === LOOKS) break;
    await pause(cycle.clock, LOOK_AGAIN_MILLISECONDS);
  }
  const late = `${saves.length} saves came after the lease was lost`;
  cycle.tally.notes.push(`${late}; ${sentAgain} changes go again that were sent since`);
}

/**
 * Whether the lease of a cycle whose saves could not be recorded has passed on: PostgreSQL may have closed the
 * connection of a frozen cycle, or be away just now. Without saves it does not matter.
 */
export async function hasPassedOn(cycle: Cycle, outcomes: readonly PushOutcome[], error: unknown): Promise<boolean> {
  const saves = savesIn(outcomes);
  if (saves.length === 0 || !isDatabases(error)) return false;
  const until = cycle.clock.now() + RETURN_MILLISECONDS;
  while (cycle.clock.now() < until) {
    try {
      return (await cycle.store.renew(cycle.lease, LEASE_SECONDS)) === "lost";
    } catch (trouble) {
      if (!isDatabases(trouble)) return false;
      await pause(cycle.clock, KNOCK_AGAIN_MILLISECONDS);
    }
  }
  cycle.tally.notes.push(`${saves.length} saves could not be recorded, and it is unknown whether they came too late`);
  return false;
}

const isDatabases = (error: unknown): boolean => failureOf(error).reason === "postgres_unavailable";

const savesIn = (outcomes: readonly PushOutcome[]) =>
  outcomes.flatMap((outcome) => (outcome.kind === "accepted" ? [outcome] : []));
