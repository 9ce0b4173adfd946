import type { Cycle } from "./cycle.ts";
import type { PushOutcome } from "./ports.ts";

/** A newer save that is under way is waited for this long; one that is in doubt is put right when its doubt is settled. */
const LOOKS = 10;
const LOOK_AGAIN_MILLISECONDS = 1_000;

/**
 * A cycle that was stopped between its last look at the lease and its save, and for longer than a lease lives, may have
 * saved older values over newer ones. No fence keeps that from Salesforce; who did it learns it here, when its results are
 * not taken any more, and the newer changes go again.
 */
export async function putRight(cycle: Cycle, outcomes: readonly PushOutcome[]): Promise<void> {
  const saves = outcomes.flatMap((outcome) => (outcome.kind === "accepted" ? [outcome] : []));
  if (saves.length === 0) return;
  let sentAgain = 0;
  for (let look = 1; ; look++) {
    const { again, underWay } = await cycle.store.sendAgain(cycle.lease, saves);
    sentAgain += again;
    if (underWay === 0 || look === LOOKS) break;
    await new Promise<void>((resolve) => cycle.clock.at(cycle.clock.now() + LOOK_AGAIN_MILLISECONDS, () => resolve()));
  }
  const late = `${saves.length} saves came after the lease was lost`;
  cycle.tally.notes.push(`${late}; ${sentAgain} changes go again that were sent since`);
}
