/** How far back one may look, in minutes. */
export const MAX_MINUTES = 7 * 24 * 60;

/** Steps of a span at most: as many as fit a strip on a page. */
const STEPS = 60;

/** A time that is looked at, in steps of whole minutes. */
export interface Span {
  readonly from: Date;
  readonly to: Date;
  readonly stepSeconds: number;
}

/** The last minutes until `at`, in whole steps that end with the one in which `at` lies. */
export function lastMinutes(minutes: number, at: Date): Span {
  const stepSeconds = Math.max(60, Math.ceil(minutes / STEPS) * 60);
  const steps = Math.ceil((minutes * 60) / stepSeconds);
  return { from: new Date(stepOf(at, stepSeconds).getTime() - (steps - 1) * stepSeconds * 1000), to: at, stepSeconds };
}

/** How long the counts of cycles are kept, in minutes. */
export const CYCLES_KEPT_MINUTES = 24 * 60;

/** From when on a span has the counts of all cycles. */
export function cyclesFrom({ from, to }: Span): Date {
  const oldest = stepOf(to, 60).getTime() - (CYCLES_KEPT_MINUTES - 1) * 60_000;
  return new Date(Math.max(from.getTime(), oldest));
}

/** When the step began in which a time lies. */
function stepOf(at: Date, stepSeconds: number): Date {
  const step = stepSeconds * 1000;
  return new Date(Math.floor(at.getTime() / step) * step);
}
