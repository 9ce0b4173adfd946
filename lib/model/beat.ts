/** Seconds between two slots of the beat. */
export const BEAT_SECONDS = 10;

/** Beats that had nothing to do are noted together, once in so long. */
export const NOTED_SECONDS = 60;

/** Seconds between two ticks of a mapping, and of slots that each covers. */
export const PERIOD_SECONDS = 300;

/** A tick that is sent later than this after its time covers no slot to come. SQS holds messages back for 900 s. */
export const TICK_SECONDS = 2 * PERIOD_SECONDS;

export interface Slot {
  /** Epoch seconds. */
  readonly slot: number;
  readonly delaySeconds: number;
}

/** The minute of five in which a workspace's periods begin: so ticks are spread, and those of a workspace meet. */
export const firstMinuteOf = (phase: number): number => phase % (PERIOD_SECONDS / 60);

/** When the period began that an instant falls into (epoch seconds). */
export function periodAt(instant: Date, phase: number): number {
  const offset = firstMinuteOf(phase) * 60;
  return Math.floor((instant.getTime() / 1000 - offset) / PERIOD_SECONDS) * PERIOD_SECONDS + offset;
}

/**
 * The slots that a tick covers and that can still be kept, each with the delay that is left: those of the period after
 * its own, so that it may fire late, be gathered with others, or get lost and be noticed. `phase` (0 to 9) moves a
 * workspace's slots within the ten seconds, so that they are spread. The tick of a later minute of its period, as the
 * schedules of versions up to 0.3.1 send them, covers none.
 */
export function slotsOf(tick: Date, phase: number, now: Date): Slot[] {
  const period = periodAt(tick, phase);
  if (tick.getTime() >= (period + 60) * 1000) return [];
  const start = new Date(Math.max((period + PERIOD_SECONDS) * 1000, now.getTime() - LATE_MILLISECONDS + 1));
  return slotsUntil(period + TICK_SECONDS, start, phase, now);
}

/** The slots at or after an instant and before `end` (epoch seconds), each with its delay. */
export function slotsUntil(end: number, from: Date, phase: number, now: Date): Slot[] {
  const first = Math.ceil((from.getTime() / 1000 - phase) / BEAT_SECONDS) * BEAT_SECONDS + phase;
  return Array.from({ length: Math.max(0, Math.ceil((end - first) / BEAT_SECONDS)) }, (_, index) => {
    const slot = first + index * BEAT_SECONDS;
    return { slot, delaySeconds: Math.max(0, Math.ceil(slot - now.getTime() / 1000)) };
  });
}

/** A beat that comes later than this is dropped: the next one is on its way. */
export const LATE_MILLISECONDS = 20_000;

/** The workspace's place within the ten seconds, the same every time. */
export const phaseOf = (workspaceId: string): number => hash(workspaceId) % BEAT_SECONDS;

/** A number below a million that an id always has, spread evenly. */
export function hash(id: string): number {
  return [...id].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003, 0);
}
