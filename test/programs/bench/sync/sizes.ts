import type { Measure } from "../parts.ts";

/** The documented sizes. */
export const FULL = {
  loaded: 100_000,
  large: 1_000_000,
  rounds: 3,
  pushed: 10_000,
  pushRounds: 15,
  logged: 3_000_000,
  changesPerMinute: 60,
  seconds: 100,
  rungPerMinute: 1_000,
  rungSeconds: 60,
};

/** Small ones for development. */
export const QUICK: typeof FULL = {
  loaded: 20_000,
  large: 60_000,
  rounds: 1,
  pushed: 2_400,
  pushRounds: 1,
  logged: 60_000,
  changesPerMinute: 30,
  seconds: 25,
  rungPerMinute: 300,
  rungSeconds: 20,
};

/** Measures one part of `npm run bench:sync`. */
export type SyncMeasure = Measure<typeof FULL>;
