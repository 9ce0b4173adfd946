import { isRung } from "../doorbell.ts";
import { type Mapping, pulls } from "../mapping/mapping.ts";
import type { CycleMessage } from "../messages.ts";
import { type Budget, pullSeconds } from "./budget.ts";
import { isPullDue, isQuiet, type Pulling } from "./interval.ts";
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
  if (hasChanges && isOverdue(budget, mapping, read.lastPullAt, now)) return "now";
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
  const seconds = pullSeconds(budget, mapping, restOf(budget, mapping, marks.lanes.changed?.stamp ?? null, now));
  return isPullDue(mapping.workspaceId, seconds, lastPullAt, now);
}

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
const isOverdue = (budget: Budget, mapping: Mapping, lastPullAt: Date | null, now: Date): boolean =>
  lastPullAt === null ||
  now.getTime() - lastPullAt.getTime() > 2_000 * pullSeconds(budget, mapping, { isQuiet: false, isRung: false });
