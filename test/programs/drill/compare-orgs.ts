import { differencesOf } from "./differences.ts";
import type { Door } from "./door.ts";
import { askEngine, newMark, versionOf } from "./engine.ts";
import { sweepUp } from "./sweep-up.ts";

/** What was asked of two orgs, and every difference between their answers, a line each. */
export interface Report {
  readonly steps: number;
  readonly differences: readonly string[];
  /** What could not be compared, and why. */
  readonly notes: readonly string[];
}

/** Asks both by every method of the engine's client. What it makes it deletes again. */
export async function compareOrgs(ours: Door, theirs: Door): Promise<Report> {
  const [version, mark] = [await versionOf(theirs), newMark()];
  // Where one fails the other comes to its end first, so that nothing is created after the cleanup.
  const asked = [ours, theirs].map((door) => askEngine(door, version, mark));
  try {
    await Promise.allSettled(asked);
    const [our, their] = (await Promise.all(asked)) as [Heard, Heard];
    // Without an external id there, nothing is saved by one; what then is asked of ours alone is no difference.
    const hasNoKey = our.key !== null && their.key === null;
    const names = [...new Set([...our.seen.keys(), ...their.seen.keys()])].filter(
      (name) => !hasNoKey || (our.seen.has(name) && their.seen.has(name)),
    );
    const differences = names.flatMap((name) =>
      differencesOf(our.seen.get(name), their.seen.get(name)).map((difference) => `${name}: ${difference}`),
    );
    const unasked = our.unasked.map((method) => `the drill never asks ${method} of the engine's client`);
    const notes = hasNoKey ? ["not compared: saves by an external id, for Account there has no unique one"] : [];
    return { steps: names.length, differences: [...differences, ...unasked], notes };
  } finally {
    await Promise.all([ours, theirs].map(emptied));
  }
}

type Heard = Awaited<ReturnType<typeof askEngine>>;

async function emptied(door: Door): Promise<void> {
  const left = await sweepUp(door);
  if (left.length > 0) throw new Error(`these records could not be deleted from ${door.url}: ${left.join(", ")}`);
}
