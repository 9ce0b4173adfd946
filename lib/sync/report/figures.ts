import type { Salesforce } from "../cycle/cycle-ports.ts";
import type { Totals } from "../lease/lease-ports.ts";
import type { CycleReport } from "../run-cycle.ts";

/** What a cycle saw that the operator's alarms watch. Of no mapping by name: a metric for each would cost dearly. */
export interface Figures {
  /** Changes that Salesforce has accepted and refused. */
  readonly accepted: number;
  readonly refused: number;
  /** Age of the oldest change of the workspace that waits for its turn; 0 when none does, null when nobody could look. */
  readonly oldestWaitingSeconds: number | null;
  /** Share of the org's daily calls that are used, 0 to 1; null when no answer told it. */
  readonly budgetShare: number | null;
  /** The cycle did not begin, or an engine-level error ended it. */
  readonly failed: boolean;
}

/** The figures of a cycle that did not begin. */
export const UNBEGUN: Figures = {
  accepted: 0,
  refused: 0,
  oldestWaitingSeconds: null,
  budgetShare: null,
  failed: true,
};

type Ran = Extract<CycleReport, { readonly ran: true }>;

/** The figures of one cycle. */
export function figuresOf(
  { tally, error }: Pick<Ran, "tally" | "error">,
  totals: Pick<Totals, "oldestWaitingSeconds"> | null,
  usage: ReturnType<Salesforce["usage"]>,
): Figures {
  return {
    accepted: tally.accepted,
    refused: tally.refused,
    oldestWaitingSeconds: totals?.oldestWaitingSeconds ?? null,
    failed: error !== null,
    budgetShare: usage && usage.limit > 0 ? usage.used / usage.limit : null,
  };
}
