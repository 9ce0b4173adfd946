/** One line of the summary. Bars were set before anything was measured, and are never loosened. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** What is measured, and how large: the sizes, or small ones for development. */
export interface Sizes {
  readonly loaded: number;
  readonly large: number;
  readonly rounds: number;
  readonly pushed: number;
  readonly pushRounds: number;
  readonly captured: number;
  readonly idleBeats: number;
  readonly settleSeconds: number;
  readonly logged: number;
  readonly mappings: readonly number[];
  readonly latencySamples: number;
  readonly latencySeconds: number;
  readonly rungPerMinute: number;
  readonly rungSeconds: number;
}

export const FULL: Sizes = {
  loaded: 100_000,
  large: 1_000_000,
  rounds: 3,
  pushed: 10_000,
  pushRounds: 15,
  captured: 50_000,
  idleBeats: 20,
  settleSeconds: 240,
  logged: 3_000_000,
  mappings: [1, 10, 100, 1_000],
  latencySamples: 100,
  latencySeconds: 100,
  rungPerMinute: 1_000,
  rungSeconds: 60,
};

export const QUICK: Sizes = {
  loaded: 20_000,
  large: 60_000,
  rounds: 1,
  pushed: 2_400,
  pushRounds: 1,
  captured: 10_000,
  idleBeats: 5,
  settleSeconds: 20,
  logged: 60_000,
  mappings: [1, 10, 40],
  latencySamples: 12,
  latencySeconds: 25,
  rungPerMinute: 300,
  rungSeconds: 20,
};

export const isMissed = ({ value, atMost = Infinity, atLeast = -Infinity }: Figure): boolean =>
  Number.isNaN(value) || value > atMost || value < atLeast;

export const barOf = ({ atMost, atLeast }: Figure): string =>
  atMost !== undefined ? `at most ${atMost}` : atLeast !== undefined ? `at least ${atLeast}` : "";

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN;
}
