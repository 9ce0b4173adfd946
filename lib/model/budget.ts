/** What an org has left for us decides how much we ask of it (design section 5, the call budget). */
export interface Budget {
  /** The org's own count of the last 24 hours and its limit; null before the first answer. */
  readonly usage: Usage | null;
  readonly step: number;
  /** When this step began; null or left out: never changed, or not known. */
  readonly since?: Date | null;
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
export function afterAnswer(before: Budget, usage: Usage): Budget & { readonly usage: Usage } {
  const share = usage.limit > 0 ? usage.used / usage.limit : 0;
  const reached = STEPS.findLastIndex(({ from }) => share >= from);
  const held = STEPS.findLastIndex(({ from }) => share >= from - HYSTERESIS);
  const step = before.step > reached ? Math.min(before.step, held) : reached;
  return { usage, step, since: step === before.step ? (before.since ?? null) : usage.at };
}

/** Salesforce counts the calls of the last 24 hours. */
const COUNTED_MILLISECONDS = 24 * 3_600_000;

/** When all calls that were counted as the step began have left Salesforce's count; null: nothing is held back. */
export function endsBy({ usage, step, since }: Budget): Date | null {
  const began = since ?? usage?.at;
  return step === 0 || !began ? null : new Date(began.getTime() + COUNTED_MILLISECONDS);
}

/** What is held back for the sake of the org's calls, and until when, in a sentence. */
export function tellBudget(budget: Budget & { readonly usage: Usage }): string {
  const { usage, step } = budget;
  const { from, stretch, pushes } = STEPS[step] ?? STEPS[0];
  const counted = `Salesforce counts ${usage.used} of ${usage.limit} API calls in 24 hours`;
  if (stretch === 1) return `${counted}: pulls and saves run as configured`;
  const pulled = stretch === null ? "pulls have stopped" : `pulls run ${stretch} times less often`;
  const sent = pushes ? "changes are still sent" : "changes wait";
  const below = Math.ceil(usage.limit * (from - HYSTERESIS));
  const time = endsBy(budget)?.toISOString().slice(0, 16);
  return `${counted}: ${pulled}, ${sent}; this ends below ${below} calls, by ${time}Z unless other clients use more`;
}

/** Whether any of a mapping's work is held back: pulls from the first step on, saves in the last. */
export function isSparing({ step }: Budget, pulls: boolean): boolean {
  return step > 0 && (pulls || STEPS[step]?.pushes === false);
}

/** Whether pulls have stopped: then nothing is read that can wait. */
export const stopsPulls = ({ step }: Budget): boolean => STEPS[step]?.stretch === null;

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
