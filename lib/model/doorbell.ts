/** What is known of a workspace's doorbell, by which its org announces changes. */
export interface Doorbell {
  /** When it got its URL; null: there is none, and nothing rings. */
  readonly madeAt: Date | null;
  /** The number of the pepper that its URL is derived from. */
  readonly pepper: number;
  /** The rings for each mapping, by id. */
  readonly heard: ReadonlyMap<string, Heard>;
}

export interface Heard {
  readonly rungAt: Date;
  /** Since when it rings without a miss; null: a change came without a ring since. */
  readonly aliveSince: Date | null;
  /** When a change was found that no ring had announced; the next ring takes that back. */
  readonly missedAt: Date | null;
}

/** Salesforce promises no delay for a ring; a change that was found first waits so long for its own. */
const GRACE_MILLISECONDS = 30_000;

/**
 * A ring announces what is found within this time after it. With the 240 s between polls and the grace it makes the five
 * minutes within which a death is noticed.
 */
const ANNOUNCED_MILLISECONDS = 30_000;

/** Whose ring it is, and whether it is switched on. */
interface Rung {
  readonly id: string;
  readonly notifyEnabled: boolean;
}

export const BELL_STATES = ["off", "waiting", "alive", "dead"] as const;

/**
 * `off`: it is not switched on, or there is no doorbell; `waiting`: it has not rung yet, so that it is not known to
 * work; `dead`: it is known not to work. Only one that is `alive` lets its mapping be polled rarely.
 */
export interface BellState {
  readonly state: (typeof BELL_STATES)[number];
  readonly since: Date | null;
}

/** What a mapping's doorbell is worth. Silence never makes it alive; its next ring does. */
export function bellOf(doorbell: Doorbell | null, { id, notifyEnabled }: Rung, now: Date): BellState {
  if (!doorbell?.madeAt || !notifyEnabled) return { state: "off", since: null };
  const heard = doorbell.heard.get(id);
  if (!heard) return { state: "waiting", since: doorbell.madeAt };
  const { missedAt } = heard;
  if (missedAt && now.getTime() - missedAt.getTime() > GRACE_MILLISECONDS) return { state: "dead", since: missedAt };
  return { state: "alive", since: heard.aliveSince };
}

/** Whether a mapping's changes are announced, so that it is polled rarely. */
export const isRung = (doorbell: Doorbell | null, mapping: Rung, now: Date): boolean =>
  bellOf(doorbell, mapping, now).state === "alive";

/** Whether a change that was found now without a ring shows that a doorbell, believed to be alive, is not. */
export function isMissed(doorbell: Doorbell | null, mapping: Rung, now: Date): boolean {
  const heard = doorbell?.heard.get(mapping.id);
  if (!heard || heard.missedAt || !isRung(doorbell, mapping, now)) return false;
  return now.getTime() - heard.rungAt.getTime() > ANNOUNCED_MILLISECONDS;
}
