/**
 * How many deletes of a mapping may pass in a rolling hour, each side alone; the rest is held. A number (`500`), a
 * share of the table (`25%`), `off`, or `auto`.
 */
export type DeleteLimit = string;

export const isDeleteLimit = (text: string): boolean => /^(auto|off|\d{1,9}|([1-9]?\d|100)%)$/.test(text);

/** What a mapping that says nothing has. */
export const AUTO: DeleteLimit = "auto";

const ALWAYS_ALLOWED = 100;
const ALLOWED_SHARE = 0.1;
/** A table whose rows come and go has busy hours; three times the busiest one is unusual. */
const TIMES_THE_BUSIEST = 3;

/** What is known of a mapping: about how many rows it has, and the deletes of its busiest hour of the days before. */
interface Known {
  readonly rows: number;
  readonly busiestHour: number;
}

/** How many deletes may pass in a rolling hour. It grows with each of what is known. */
export function allowedDeletes(limit: DeleteLimit, { rows, busiestHour }: Known): number {
  if (limit === "off") return Number.POSITIVE_INFINITY;
  if (limit.endsWith("%")) return Math.floor((rows * Number(limit.slice(0, -1))) / 100);
  if (limit !== AUTO) return Number(limit);
  return Math.max(ALWAYS_ALLOWED, Math.floor(rows * ALLOWED_SHARE), busiestHour * TIMES_THE_BUSIEST);
}

/** Deletes of a mapping that are held: since when, and when that was announced last. */
export interface Holding {
  readonly since: Date;
  readonly announcedAt: Date;
}

/** Held deletes are announced when holding begins, once an hour while it lasts, and when it ends. */
const ANNOUNCED_EVERY_MILLISECONDS = 3_600_000;

export const HOLDING_PHASES = ["began", "continues", "ended"] as const;

interface HoldingStep {
  readonly holding: Holding | null;
  /** What to announce now; null: nothing. */
  readonly phase: (typeof HOLDING_PHASES)[number] | null;
}

/** After one more look, which has found so many held deletes. */
export function afterLook(before: Holding | null, held: number, at: Date): HoldingStep {
  if (held === 0) return { holding: null, phase: before && "ended" };
  if (before === null) return { holding: { since: at, announcedAt: at }, phase: "began" };
  if (at.getTime() - before.announcedAt.getTime() < ANNOUNCED_EVERY_MILLISECONDS)
    return { holding: before, phase: null };
  return { holding: { ...before, announcedAt: at }, phase: "continues" };
}

/** The operator's message about held deletes, with the remedy. */
export const reportHeld = (deletes: number, sfObject: string, limit: DeleteLimit): string =>
  `${deletes} deletes of ${sfObject} are held: more in one hour than delete_limit ${limit} allows, or of records that Salesforce does not return any more; list them with: ` +
  `bridge mapping held-deletes ${sfObject}, then confirm-deletes or reject-deletes`;
