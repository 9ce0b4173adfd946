import { DEFAULT_SHARE, type Share } from "../../../../lib/model/calls/plan.ts";

/** One workspace whose calls are counted by the org. */
export interface CountedStory {
  readonly name: string;
  readonly mappings: number;
  /** The workspace's `when_quiet_seconds`. */
  readonly whenQuiet: number | null;
  /** Rows that Salesforce has refused, deletes that are held, and records that could not become rows. */
  readonly hasTrouble: boolean;
  /** Whether the org rings for all of them. */
  readonly hasDoorbells: boolean;
  /** The org's calls a day. */
  readonly limit: number;
  readonly share: Share;
  /** Hours that are lived through; of fewer than 24 what happens once a day is asked for and counted separately. */
  readonly hours: number;
  /** Calls a day, at most; null: the planner says how many. */
  readonly atMost: number | null;
}

const PLENTY = {
  whenQuiet: null,
  hasTrouble: false,
  hasDoorbells: false,
  limit: 1_000_000,
  share: DEFAULT_SHARE,
  hours: 1,
} as const;

/** What idle mappings may cost a day. */
export const IDLE: readonly CountedStory[] = [
  { ...PLENTY, name: "5 idle mappings", mappings: 5, atMost: 9_600 },
  { ...PLENTY, name: "5 idle mappings, rows refused and held", mappings: 5, hasTrouble: true, atMost: 9_600 },
  { ...PLENTY, name: "50 idle mappings", mappings: 50, atMost: 91_000 },
  { ...PLENTY, name: "5 idle mappings, when_quiet 60 s", mappings: 5, whenQuiet: 60, atMost: 2_500 },
  { ...PLENTY, name: "50 idle mappings, when_quiet 60 s", mappings: 50, whenQuiet: 60, atMost: 18_000 },
  { ...PLENTY, name: "5 idle mappings, doorbells", mappings: 5, hasDoorbells: true, atMost: 600 },
  { ...PLENTY, name: "50 idle mappings, doorbells", mappings: 50, hasDoorbells: true, atMost: 5_000 },
];

/** A day whose calls are planned: ten mappings want 17,280 of a Developer Edition's 15,000. */
export const PLANNED: CountedStory = {
  ...PLENTY,
  name: "10 idle mappings, 15,000 calls, 80 %",
  mappings: 10,
  limit: 15_000,
  hours: 24,
  atMost: null,
};
