import { NOTED_SECONDS } from "../beat.ts";
import { isRung } from "../doorbell.ts";
import { type Mapping, pulls } from "../mapping/mapping.ts";
import type { CycleMessage } from "../messages.ts";
import { type Budget, pullSeconds } from "./budget.ts";
import { FULL_PACE_SECONDS, isPullDue, isQuiet, type Pulling } from "./interval.ts";
import { rungPullAt } from "./plan.ts";

/** How far a mapping was read, as its state says. */
export interface Read {
  readonly marks: {
    /** Null: its first load has not ended. */
    readonly position: Date | null;
    /** Null: not since all rows were captured as changed in every column. */
    readonly slow: Date | null;
    readonly lanes: { readonly changed?: { readonly stamp: Date } | undefined };
  };
  /** The org's time of its last pull; null: it was never pulled. */
  readonly lastPullAt: Date | null;
}

/** Why a cycle runs, and what it knows. */
export interface Asked extends Pick<CycleMessage, "kind" | "slot" | "wakes"> {
  /** Changes of rows wait to be sent. */
  readonly hasChanges: boolean;
  /** What the workspace's probe of this slot found; null: it was not asked. */
  readonly hasNews: boolean | null;
}

/**
 * When a mapping is pulled next, as its cycle of this moment has it: `now`, at a later time, `never` (until something asks
 * again), or `probe`: once the workspace's probe, one call for all of its mappings, finds that something has changed.
 */
export function nextPull(
  budget: Budget,
  mapping: Mapping,
  read: Read,
  { kind, slot, wakes, hasChanges, hasNews }: Asked,
  now: Date,
): "now" | "probe" | "never" | Date {
  if (!pulls(mapping.syncDirection) || read.marks.position === null) return "never";
  if (read.marks.slow === null || (!wakes && kind !== "beat")) return "now";
  if (hasNews !== null) return hasNews ? "now" : "never";
  // Another cycle may have the probe, and what is sent must not overtake what that one finds.
  if (hasChanges && isOverdue(budget, mapping, read, now)) return "now";
  if (wakes === "push") return "never";
  if (wakes === "pull") {
    const at = rungPullAt(budget.plan, read.lastPullAt, now);
    return at === null ? "never" : at <= now ? "now" : at;
  }
  if (slot === null) return "now";
  return isDue(budget, mapping, read, now) ? "probe" : "never";
}

/** Whether the time for a mapping's next poll has come. */
export function isDue(budget: Budget, mapping: Mapping, { marks, lastPullAt }: Read, now: Date): boolean {
  if (!pulls(mapping.syncDirection) || marks.position === null) return false;
  return isPullDue(mapping.workspaceId, secondsNow(budget, mapping, marks, now), lastPullAt, now);
}

const secondsNow = (budget: Budget, mapping: Mapping, { lanes }: Read["marks"], now: Date): number =>
  pullSeconds(budget, mapping, restOf(budget, mapping, lanes.changed?.stamp ?? null, now));

/**
 * Whether a pull that found nothing new has to be noted: the next one is not due at every beat, or the last note is a
 * minute old.
 */
export const isPullNoted = (budget: Budget, mapping: Mapping, { marks, lastPullAt }: Read, now: Date): boolean =>
  secondsNow(budget, mapping, marks, now) > FULL_PACE_SECONDS ||
  lastPullAt === null ||
  now.getTime() - lastPullAt.getTime() >= (NOTED_SECONDS - FULL_PACE_SECONDS / 2) * 1000;

/** Whether the time for another pull has come during a push, whose own saves ring where a doorbell works. */
export function isDueAgain(budget: Budget, mapping: Mapping, read: Read, now: Date): { poll: boolean; ring: boolean } {
  const rungAt = isRung(budget.doorbell, mapping, now) ? rungPullAt(budget.plan, read.lastPullAt, now) : null;
  return { poll: isDue(budget, mapping, read, now), ring: rungAt !== null && rungAt <= now };
}

/** A mapping that was not pulled for so long is pulled to the end before it is pushed. */
const BLIND_MILLISECONDS = 10 * 60_000;

/**
 * Whether what waits may meet changes of Salesforce that no pull has seen: nothing was pulled for a while, or not since all
 * rows were captured as changed in every column. A save would overwrite them, whatever the conflict policy.
 */
export const isBlind = ({ marks, lastPullAt }: Read, now: Date): boolean =>
  marks.slow === null || (lastPullAt !== null && now.getTime() - lastPullAt.getTime() > BLIND_MILLISECONDS);

/** What lets a mapping rest: silence since the last known change (null: none is known), or a doorbell that works. */
export const restOf = (
  { doorbell }: Pick<Budget, "doorbell">,
  mapping: Pick<Mapping, "id" | "notifyEnabled">,
  changedAt: Date | null,
  now: Date,
): Pick<Pulling, "isQuiet" | "isRung"> => ({
  isQuiet: isQuiet(changedAt, now),
  isRung: isRung(doorbell, mapping, now),
});

/** Whether a mapping that has changes to send has missed a pull, or rested because nothing changed or rang. */
function isOverdue(budget: Budget, mapping: Mapping, { marks, lastPullAt }: Read, now: Date): boolean {
  if (lastPullAt === null) return true;
  const unnoted = secondsNow(budget, mapping, marks, now) > FULL_PACE_SECONDS ? 0 : NOTED_SECONDS;
  const seconds = 2 * pullSeconds(budget, mapping, { isQuiet: false, isRung: false }) + unnoted;
  return now.getTime() - lastPullAt.getTime() > seconds * 1000;
}
