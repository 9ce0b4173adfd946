import type { Figures, Salesforce } from "../cycle/cycle-ports.ts";
import type { Totals } from "../lease/lease-ports.ts";
import type { CycleReport } from "../run-cycle.ts";

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
