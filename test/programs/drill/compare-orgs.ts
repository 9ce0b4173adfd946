import { differencesOf, engineDifferencesOf } from "./differences.ts";
import type { Door } from "./door.ts";
import { askEngine, newMark, versionOf } from "./engine.ts";
import { runSequence } from "./sequence.ts";
import { sweepUp } from "./sweep-up.ts";

/** What was asked of two orgs, and every difference between their answers, a line each. */
export interface Report {
  readonly steps: number;
  readonly differences: readonly string[];
  /** What could not be compared, and why. */
  readonly notes: readonly string[];
}

/** Asks both by hand, call by call, and by every method of the engine's client. What it makes it deletes again. */
export async function compareOrgs(ours: Door, theirs: Door): Promise<Report> {
  try {
    const [byHand, byEngine] = [await askByHand(ours, theirs), await askByEngine(ours, theirs)];
    return {
      steps: byHand.steps + byEngine.steps,
      differences: [...byHand.differences, ...byEngine.differences],
      notes: byEngine.notes,
    };
  } finally {
    await Promise.all([ours, theirs].map(emptied));
  }
}

async function askByHand(ours: Door, theirs: Door): Promise<Omit<Report, "notes">> {
  const [our, their] = await ofBoth(ours, theirs, runSequence);
  return compared(our, their, differencesOf);
}

async function askByEngine(ours: Door, theirs: Door): Promise<Report> {
  const [version, mark] = [await versionOf(theirs), newMark()];
  const [our, their] = await ofBoth(ours, theirs, (door) => askEngine(door, version, mark));
  // Without an external id there, nothing is saved by one; what then is asked of ours alone is no difference.
  const isComparable = (name: string) =>
    (our.key === null) === (their.key === null) || both(our.seen, their.seen, name);
  const { steps, differences } = compared(our.seen, their.seen, engineDifferencesOf, isComparable);
  const unasked = our.unasked.map((method) => `the drill never asks ${method} of the engine's client`);
  const lacks = "not compared: saves by an external id, for Account there has no unique one";
  return {
    steps,
    differences: [...differences, ...unasked],
    notes: our.key !== null && their.key === null ? [lacks] : [],
  };
}

/** Asks both at once. Where one fails the other comes to its end first, so that nothing is created after the cleanup. */
async function ofBoth<Answer>(ours: Door, theirs: Door, work: (door: Door) => Promise<Answer>) {
  const asked = [work(ours), work(theirs)] as const;
  await Promise.allSettled(asked);
  return Promise.all(asked);
}

type Answers = Awaited<ReturnType<typeof runSequence>>;

const both = (ours: Answers, theirs: Answers, name: string) => ours.has(name) && theirs.has(name);

function compared(
  ours: Answers,
  theirs: Answers,
  differences: typeof differencesOf,
  isComparable: (name: string) => boolean = () => true,
): Omit<Report, "notes"> {
  const names = [...new Set([...ours.keys(), ...theirs.keys()])].filter(isComparable);
  return {
    steps: names.length,
    differences: names.flatMap((name) =>
      differences(ours.get(name), theirs.get(name)).map((difference) => `${name}: ${difference}`),
    ),
  };
}

async function emptied(door: Door): Promise<void> {
  const left = await sweepUp(door);
  if (left.length > 0) throw new Error(`these records could not be deleted from ${door.url}: ${left.join(", ")}`);
}
