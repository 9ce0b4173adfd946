/** What an org has left for us decides how much we ask of it (design section 5, the call budget). */
export interface Budget {
  /** The org's own count of the last 24 hours and its limit; null before the first answer. */
  readonly usage: Usage | null;
  readonly step: number;
}

export interface Usage {
  readonly used: number;
  readonly limit: number;
  readonly at: Date;
}

export const FRESH_BUDGET: Budget = { usage: null, step: 0 };

interface Step {
  /** Share of the limit from which this step holds. */
  readonly from: number;
  /** Pulls come so many times as far apart; null: none. */
  readonly stretch: number | null;
  readonly pushes: boolean;
}

const STEPS: readonly [Step, ...Step[]] = [
  { from: 0, stretch: 1, pushes: true },
  { from: 0.7, stretch: 3, pushes: true },
  { from: 0.75, stretch: 6, pushes: true },
  { from: 0.8, stretch: 12, pushes: true },
  { from: 0.85, stretch: null, pushes: true },
  { from: 0.95, stretch: null, pushes: false },
];

/** A step is left only when the use is this far below where it began, so that it does not flap. */
const HYSTERESIS = 0.03;

/** While everything waits, one cycle in so many seconds may still ask, for the count comes with the answers only. */
const ASK_AGAIN_SECONDS = 300;

/** The budget after an answer that told the org's count. */
export function afterAnswer(before: Budget, usage: Usage): Budget {
  const share = usage.limit > 0 ? usage.used / usage.limit : 0;
  const reached = STEPS.findLastIndex(({ from }) => share >= from);
  const held = STEPS.findLastIndex(({ from }) => share >= from - HYSTERESIS);
  return { usage, step: before.step > reached ? Math.min(before.step, held) : reached };
}

export interface Allowance {
  /** Null: no pull. */
  readonly pullEverySeconds: number | null;
  readonly pushes: boolean;
}

/** How far apart a mapping's pulls may be, and whether it may push. */
export function allowance({ usage, step }: Budget, pollingSeconds: number, now: Date): Allowance {
  const { stretch, pushes } = STEPS[step] ?? STEPS[0];
  const old = usage !== null && now.getTime() - usage.at.getTime() >= ASK_AGAIN_SECONDS * 1000;
  if (old) return { pullEverySeconds: pollingSeconds * (stretch ?? 1), pushes: true };
  return { pullEverySeconds: stretch === null ? null : pollingSeconds * stretch, pushes };
}

/** Whether a pull is due. Beats come every ten seconds with some jitter, so one that is five seconds early will do. */
export function isPullDue(everySeconds: number, lastPullAt: Date | null, now: Date): boolean {
  return lastPullAt === null || now.getTime() - lastPullAt.getTime() >= everySeconds * 1000 - 5_000;
}
