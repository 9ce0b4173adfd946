import { type Budget, pullSeconds } from "../../model/budget.ts";
import { isPullDue, isQuiet } from "../../model/calls/interval.ts";
import { isRung } from "../../model/doorbell.ts";
import { type Mapping, pulls } from "../../model/mapping/mapping.ts";
import type { SyncState } from "../ports/lease-ports.ts";

/** Whether the time for a mapping's next pull has come. Without a position its first load has not ended. */
export function isDue(
  budget: Budget,
  mapping: Mapping,
  { marks: { position, lanes }, lastPullAt }: Pick<SyncState, "marks" | "lastPullAt">,
  now: Date,
): boolean {
  if (!pulls(mapping.syncDirection) || position === null) return false;
  const rests = {
    isQuiet: isQuiet(lanes.changed?.stamp ?? null, now),
    isRung: isRung(budget.doorbell, mapping, now),
  };
  const seconds = pullSeconds(budget, mapping, rests);
  return isPullDue(mapping.workspaceId, seconds, lastPullAt, now);
}

/** Whether a mapping that has changes to send has missed a pull, or rested because nothing changed or rang. */
export const isOverdue = (budget: Budget, mapping: Mapping, lastPullAt: Date | null, now: Date): boolean =>
  lastPullAt === null ||
  now.getTime() - lastPullAt.getTime() > 2_000 * pullSeconds(budget, mapping, { isQuiet: false, isRung: false });
