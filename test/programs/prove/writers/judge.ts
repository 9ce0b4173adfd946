import type { Dice } from "../../../support/doubles/dice.ts";
import type { Reading, Save } from "./observed-org.ts";

export type Policy = "salesforce_wins" | "postgres_wins" | "latest_wins";

/** One field of one row and its record, written by both sides at about the same time. */
export interface DoubleWrite {
  readonly policy: Policy;
  readonly sfid: string;
  readonly field: string;
  /** What the application wrote into the row, and the colleague into the record. */
  readonly ours: string;
  readonly theirs: string;
}

/** What both sides and the org's log show of it afterwards. */
export interface Evidence {
  /** When the row's change was captured, and what it replaced. */
  readonly captured: { readonly at: Date; readonly old: string | null } | null;
  /** Saves of the record, and answers that show it if it has changed, in the org's order. */
  readonly saves: readonly Save[];
  readonly readings: readonly Reading[];
  readonly bridgeUserId: string;
  /** The values that both sides have in the end. */
  readonly row: string | null;
  readonly record: string | null;
  readonly conflicts: readonly {
    readonly field: string;
    readonly postgres: string | null;
    readonly salesforce: string | null;
    readonly winner: string;
  }[];
}

/**
 * How the two writes met.
 * `judged`: the colleague's was committed before Bridge's last reading before its save; the policy decides.
 * `between`: after that reading and before the save, so it may be overwritten.
 * `after`: after the save. `known`: the row had it before the application wrote. `equal`: both wrote the same.
 */
export type Meeting = "judged" | "between" | "after" | "known" | "equal";

export interface Verdict {
  readonly meeting: Meeting;
  /** Null: as it should be. */
  readonly violation: string | null;
  /** Between the last reading and the save, milliseconds; null: nothing was saved. */
  readonly gap: number | null;
  /** From the row's write to the reading that came before its save, or that gave it back; null: it does not count. */
  readonly checkedAfter: number | null;
  /** Whether the colleague's value was overwritten between check and save. */
  readonly isOverwritten: boolean;
}

/** So old may a reading be when the row is written that it counts as the check of its save, which may use a pull of just now. */
const FRESH_MILLISECONDS = 2_000;

/** Judges one double write by the org's order of commits. */
export function judge(write: DoubleWrite, evidence: Evidence): Verdict {
  const { ours, theirs, field } = write;
  const { captured, saves, readings, bridgeUserId, row, record } = evidence;
  const isOf = (value: string) => (save: Save) => save.values[field] === value;
  const colleague = saves.filter(({ userId }) => userId !== bridgeUserId).find(isOf(theirs));
  const save = saves.filter(({ userId }) => userId === bridgeUserId).find(isOf(ours));
  const reading = save && readings.findLast(({ order }) => order < save.order);
  const gap = save && reading ? save.at - reading.at : null;
  const isCheck = ({ order, at }: Reading) =>
    colleague !== undefined && order > colleague.order && captured !== null && at > captured.at.getTime();
  const verdict = (meeting: Meeting, wrong: string | null): Verdict => {
    const unequal = row === record ? null : `the row holds ${row}, the record ${record}`;
    const isOverwritten = meeting === "between" && record === ours;
    const check = meeting === "judged" ? readings.find(isCheck) : reading;
    const checkedAfter = captured && check && meeting !== "equal" ? check.at - captured.at.getTime() : null;
    return { meeting, violation: unequal ?? wrong, gap, checkedAfter, isOverwritten };
  };
  const holds = (wanted: string) => (record === wanted ? null : `${wanted} should be kept, but both hold ${record}`);

  if (ours === theirs) return verdict("equal", holds(ours));
  if (!captured) return verdict("judged", "the row's change is not in the log");
  if (!colleague) return verdict("judged", "the colleague's save is not in the org's log");
  if (captured.old === theirs) return verdict("known", holds(ours));
  if (save && save.order < colleague.order) return verdict("after", holds(theirs));

  const winner = winnerOf(write.policy, captured.at, colleague.stamp);
  const isRecorded = evidence.conflicts.some(
    (line) =>
      line.field.toLowerCase() === field.toLowerCase() &&
      line.postgres === ours &&
      line.salesforce === theirs &&
      line.winner === winner,
  );
  const wrong =
    holds(winner === "postgres" ? ours : theirs) ?? (isRecorded ? null : `no conflict names ${ours} and ${theirs}`);
  if (!save || (reading && colleague.order < reading.order)) return verdict("judged", wrong);
  const isChecked = reading !== undefined && reading.at >= captured.at.getTime() - FRESH_MILLISECONDS;
  return isChecked ? verdict("between", null) : verdict("judged", wrong && `saved without a check; ${wrong}`);
}

/** What happened, in order, for people. */
export function storyOf({ captured, saves, readings, bridgeUserId, conflicts }: Evidence): string[] {
  const events = [
    ...saves.map(({ at, userId, values }) => {
      const who = userId === bridgeUserId ? "Bridge" : "a colleague";
      return [at, `${who} saved ${JSON.stringify(values)}`] as const;
    }),
    ...readings.map(({ at, ids }) => [at, `read: ${ids ? `${ids.size} by id` : "what has changed"}`] as const),
    ...(captured ? [[captured.at.getTime(), `the row was written, before: ${captured.old}`] as const] : []),
  ];
  return [
    ...events.toSorted(([a], [b]) => a - b).map(([at, what]) => `${new Date(at).toISOString().slice(11, 23)} ${what}`),
    ...conflicts.map((conflict) => `conflict ${JSON.stringify(conflict)}`),
  ];
}

function winnerOf(policy: Policy, rowAt: Date, recordAt: Date): "postgres" | "salesforce" {
  if (policy === "latest_wins") return rowAt > recordAt ? "postgres" : "salesforce";
  return policy === "postgres_wins" ? "postgres" : "salesforce";
}

/** How far apart the two writes may be, milliseconds: most of them, and the others. */
const MOST = 300;
const OTHERS = 1000;
const OTHERS_SHARE = 0.25;

/** Milliseconds from the row's write to the record's. */
export const offsetOf = (dice: Dice): number => (2 * dice.roll() - 1) * (dice.isUnder(OTHERS_SHARE) ? OTHERS : MOST);

/** The share of offsets below so many milliseconds. */
const shareBelow = (milliseconds: number): number =>
  OTHERS_SHARE * below(milliseconds, OTHERS) + (1 - OTHERS_SHARE) * below(milliseconds, MOST);

const below = (milliseconds: number, most: number) => Math.min(1, Math.max(0, (milliseconds + most) / (2 * most)));

/** Between two pushes. */
const PUSH_MILLISECONDS = 10_000;

/**
 * Compares how many were committed between check and save with the time between them. A push also sends what was written
 * while it ran, a moment after; so each counts with its own chance of being in between.
 */
export function chanceOf(verdicts: readonly Verdict[]) {
  const gaps = verdicts.flatMap(({ gap }) => gap ?? []).toSorted((a, b) => a - b);
  const at = (share: number) => gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * share))] ?? 0;
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / Math.max(1, gaps.length);
  const chances = verdicts.flatMap(({ meeting, gap, checkedAfter }) => {
    if (checkedAfter === null) return [];
    // What was given back was saved by a later check, or not at all.
    const until = checkedAfter + (meeting === "judged" ? mean : (gap ?? mean));
    return shareBelow(until) - shareBelow(checkedAfter);
  });
  const expected = chances.reduce((sum, chance) => sum + chance, 0);
  const variance = chances.reduce((sum, chance) => sum + chance * (1 - chance), 0);
  return {
    writes: verdicts.length,
    between: verdicts.filter(({ meeting }) => meeting === "between").length,
    overwritten: verdicts.filter(({ isOverwritten }) => isOverwritten).length,
    /** Milliseconds between check and save. */
    median: at(0.5),
    p95: at(0.95),
    /** The time between check and save as a share of the ten seconds between two pushes, of all writes. */
    ofTenSeconds: verdicts.length * Math.min(1, mean / PUSH_MILLISECONDS),
    /** By when each was checked and saved, and how far apart both sides write; and three standard deviations more, and one for small numbers. */
    expected,
    atMost: expected + 3 * Math.sqrt(variance) + 1,
  };
}
