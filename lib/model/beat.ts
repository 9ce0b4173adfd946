/** Seconds between two slots of the beat. */
export const BEAT_SECONDS = 10;

/** Beats that had nothing to do are noted together, once in so long. */
export const NOTED_SECONDS = 60;

/**
 * A tick covers a minute of slots that begins this many seconds after the minute it falls into: it falls up to 59 s
 * into that minute, its schedule fires up to 60 s late, and then the fan-out gathers ticks for 45 s.
 */
const FIRST_SLOT_SECONDS = 170;
const SLOTS_PER_TICK = 6;

/** A tick that is sent later than this after its time covers no slot to come. */
export const TICK_SECONDS = FIRST_SLOT_SECONDS + SLOTS_PER_TICK * BEAT_SECONDS;

/** SQS holds a message back for at most this long. */
const MAX_DELAY_SECONDS = 900;

export interface Slot {
  /** Epoch seconds. */
  readonly slot: number;
  readonly delaySeconds: number;
}

/**
 * The slots that a tick covers and that can still be kept, each with the delay that is left. `phase` (0 to 9) moves a
 * workspace's slots within the ten seconds, so that they are spread.
 */
export function slotsOf(tick: Date, phase: number, now: Date): Slot[] {
  const minute = Math.floor(tick.getTime() / 60_000) * 60;
  return Array.from(
    { length: SLOTS_PER_TICK },
    (_, index) => minute + FIRST_SLOT_SECONDS + index * BEAT_SECONDS + phase,
  )
    .map((slot) => ({ slot, delaySeconds: Math.max(0, Math.ceil(slot - now.getTime() / 1000)) }))
    .filter(
      ({ slot, delaySeconds }) => slot * 1000 > now.getTime() - LATE_MILLISECONDS && delaySeconds <= MAX_DELAY_SECONDS,
    );
}

/** The slots from now to those that the next tick covers, for a mapping that has just become active. */
export function firstSlots(phase: number, now: Date): Slot[] {
  const thisMinute = Math.floor(now.getTime() / 60_000) * 60_000;
  const ticks = [-240_000, -180_000, -120_000, -60_000, 0].map((away) => new Date(thisMinute + away));
  return ticks.flatMap((tick) => slotsOf(tick, phase, now)).filter(({ slot }) => slot * 1000 >= now.getTime());
}

/** A beat that comes later than this is dropped: the next one is on its way. */
export const LATE_MILLISECONDS = 20_000;

/** The workspace's place within the ten seconds, the same every time. */
export const phaseOf = (workspaceId: string): number => hash(workspaceId) % BEAT_SECONDS;

/** A number below a million that an id always has, spread evenly. */
export function hash(id: string): number {
  return [...id].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003, 0);
}
