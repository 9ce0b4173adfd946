/** How far back one may look, in minutes: so long the counts of cycles are kept. */
export const MAX_MINUTES = 24 * 60;

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

/** When the step began in which a time lies. */
function stepOf(at: Date, stepSeconds: number): Date {
  const step = stepSeconds * 1000;
  return new Date(Math.floor(at.getTime() / step) * step);
}
