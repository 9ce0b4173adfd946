import type { Figure } from "../figures.ts";
import type { BenchServer } from "./bench-database.ts";

/** What is measured, and how large: the documented sizes, or small ones for development. */
export interface Sizes {
  readonly loaded: number;
  readonly large: number;
  readonly rounds: number;
  readonly pushed: number;
  readonly pushRounds: number;
  readonly captured: number;
  readonly idleBeats: number;
  readonly logged: number;
  readonly mappings: readonly number[];
  readonly latencySamples: number;
  readonly latencySeconds: number;
  readonly rungPerMinute: number;
  readonly rungSeconds: number;
}

/** Measures one part of `npm run bench:sync`. */
export type Measure = (server: BenchServer, sizes: Sizes) => Promise<Figure[]>;

export const FULL: Sizes = {
  loaded: 100_000,
  large: 1_000_000,
  rounds: 3,
  pushed: 10_000,
  pushRounds: 15,
  captured: 50_000,
  idleBeats: 20,
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
  logged: 60_000,
  mappings: [1, 10, 40],
  latencySamples: 12,
  latencySeconds: 25,
  rungPerMinute: 300,
  rungSeconds: 20,
};
