/**
 * How many deletes of a mapping may pass in a rolling hour, each side by itself; the rest is held. A number (`500`), a
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
