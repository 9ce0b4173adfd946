import type { CycleReport } from "../cycle/cycle-order.ts";
import type { Figures, Salesforce } from "../ports/cycle-ports.ts";
import type { Totals } from "../ports/lease-ports.ts";

/** The figures of a cycle that did not begin. */
export const UNBEGUN: Figures = {
  accepted: 0,
  refused: 0,
  oldestWaitingSeconds: null,
  budgetShare: null,
  heldDeletes: 0,
  failed: true,
};

type Ran = Extract<CycleReport, { readonly ran: true }>;

/** The figures of one cycle. */
export function figuresOf(
  { tally, error, heldDeletes }: Pick<Ran, "tally" | "error" | "heldDeletes">,
  totals: Pick<Totals, "oldestWaitingSeconds"> | null,
  usage: ReturnType<Salesforce["usage"]>,
): Figures {
  return {
    accepted: tally.accepted,
    refused: tally.refused,
    oldestWaitingSeconds: totals?.oldestWaitingSeconds ?? null,
    heldDeletes,
    failed: error !== null,
    budgetShare: usage && usage.limit > 0 ? usage.used / usage.limit : null,
  };
}
