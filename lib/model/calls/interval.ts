import { hash, phaseOf } from "../beat.ts";

/** How often a mapping asks to be pulled, and what is known of it now. Seconds. */
export interface Pulling {
  readonly pollingSeconds: number;
  /** Seconds between pulls while nothing changes; null: as configured. */
  readonly whenQuiet: number | null;
  /** Nothing has changed on either side for a while. */
  readonly isQuiet: boolean;
  /** A doorbell announces its changes, and is not known to be dead. */
  readonly isRung: boolean;
}

/** A mapping is quiet once nothing of it has changed for so long, on either side. */
const QUIET_AFTER_SECONDS = 300;

/** By the time of the last known change; null: none is known. */
export const isQuiet = (changedAt: Date | null, now: Date): boolean =>
  changedAt === null || now.getTime() - changedAt.getTime() >= QUIET_AFTER_SECONDS * 1000;

/** Between pulls of a mapping whose doorbell works: the safety net, which finds within five minutes that it does not. */
export const RUNG_SECONDS = 240;

/** The shortest time between two pulls: a beat. */
export const FULL_PACE_SECONDS = 10;

/** Seconds between two pulls of a mapping: its own, or what a bell or silence allows, and never below the pace. */
export function everySeconds(
  { pollingSeconds, whenQuiet, isQuiet, isRung }: Pulling,
  paceSeconds: number = FULL_PACE_SECONDS,
): number {
  return Math.max(pollingSeconds, isQuiet ? (whenQuiet ?? 0) : 0, isRung ? RUNG_SECONDS : 0, paceSeconds);
}

/** A beat's ticks are so many seconds before it: org and service may differ by as much. */
const AHEAD_SECONDS = 5;

/**
 * Whether a pull is due. Those of one workspace fall on the ticks of one grid, so that mappings of the same interval are
 * asked about in the same calls, and an interval that is no multiple of ten is kept on average.
 */
export function isPullDue(workspaceId: string, seconds: number, lastPullAt: Date | null, now: Date): boolean {
  if (lastPullAt === null) return true;
  const origin = phaseOf(workspaceId) - AHEAD_SECONDS + 10 * (hash(workspaceId) % 360);
  const tick = (at: Date) => Math.floor((at.getTime() / 1000 - origin) / seconds);
  return tick(now) > tick(lastPullAt);
}
