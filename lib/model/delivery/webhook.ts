import { SCHEDULE_SECONDS } from "./delivery.ts";
import type { EventType } from "./event.ts";

/** A customer's registered URL, the events that it receives, and the secrets that sign them (contract 6). */
export interface Webhook {
  readonly id: string;
  readonly workspaceId: string;
  readonly url: string;
  /** In the order of the contract's table. */
  readonly events: readonly EventType[];
  readonly description: string;
  /** Deliveries of an inactive one are kept, and not attempted until one is requested. */
  readonly active: boolean;
  readonly secrets: SealedSecrets;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Since when every attempt has failed; null while the newest one succeeded. */
  readonly failingSince: Date | null;
  /** Until when its attempts share slots, because one was slow; null: it was quick. */
  readonly slowUntil: Date | null;
  /** Rises with each change of its settings. */
  readonly version: number;
}

/** The signing secrets, encrypted: the one that is valid, and those that a rotation has replaced, newest first. */
export interface SealedSecrets {
  readonly current: string;
  readonly previous: readonly ReplacedSecret[];
}

/** A secret that still signs beside the current one, for receivers that have not changed over. */
export interface ReplacedSecret {
  readonly secret: string;
  readonly until: Date;
}

/** How long a replaced secret still signs, unless the rotation says otherwise. */
export const OVERLAP_SECONDS = 24 * 60 * 60;

/** The longest overlap. */
export const MAX_OVERLAP_SECONDS = 7 * OVERLAP_SECONDS;

/** Secrets that may sign at once beside the current one. */
export const MAX_REPLACED_SECRETS = 5;

/** Webhooks that a workspace may have. */
export const MAX_WEBHOOKS = 50;

/** An attempt that takes this long, half of the time it has, makes its webhook slow. */
export const SLOW_MILLISECONDS = 2500;

/** How long a webhook counts as slow after a slow attempt. */
export const SLOW_SECONDS = 60;

/** Attempts that may be open at once for a slow webhook, over all workers: a dead receiver binds no more than these. */
export const SLOW_ATTEMPTS = 10;

/** The replaced secrets that still sign. */
export function stillSigning({ previous }: SealedSecrets, now: Date): readonly ReplacedSecret[] {
  return previous.filter(({ until }) => until > now);
}

/** The secrets after a rotation; null when too many would sign at once. */
export function rotate(
  secrets: SealedSecrets,
  replacement: string,
  overlapSeconds: number,
  now: Date,
): SealedSecrets | null {
  const until = new Date(now.getTime() + overlapSeconds * 1000);
  const replaced = overlapSeconds === 0 ? [] : [{ secret: secrets.current, until }];
  const previous = [...replaced, ...stillSigning(secrets, now)];
  return previous.length > MAX_REPLACED_SECRETS ? null : { current: replacement, previous };
}

/** Whether it has failed for longer than a delivery is retried: from then on deliveries are given up. */
export function isGivenUp({ active, failingSince }: Webhook, now: Date): boolean {
  return active && failingSince !== null && now.getTime() - failingSince.getTime() > SCHEDULE_SECONDS * 1000;
}

/** Whether its attempts share slots now. */
export function isSlow({ slowUntil }: Webhook, now: Date): boolean {
  return slowUntil !== null && slowUntil > now;
}
