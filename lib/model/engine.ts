import type { RefusalKind } from "./refusal.ts";

/** How one mapping's cycles have been ending. */
export interface EngineState {
  /** Cycles in a row that were ended by an engine-level error. */
  readonly failedCycles: number;
  /** Null: not broken. */
  readonly brokenSince: Date | null;
  readonly lastFailure: CycleFailure | null;
  /** Until then beats stay away, so that a refused login or an empty budget is not asked every ten seconds. */
  readonly restUntil: Date | null;
}

/** An engine-level error: the cycle could not do its work, whatever the rows are. */
export interface CycleFailure {
  readonly reason: FailureReason;
  /** For the operator: names the thing and the remedy; holds no values of rows. */
  readonly message: string;
}

export type FailureReason =
  | "salesforce_authorization"
  | "salesforce_limit"
  | "salesforce_unavailable"
  | "salesforce_schema"
  | "salesforce_request"
  | "postgres_unavailable"
  | "deletes_held"
  | "engine_fault";

export const HEALTHY: EngineState = { failedCycles: 0, brokenSince: null, lastFailure: null, restUntil: null };

/** So many failed cycles in a row, and the engine counts as broken (design section 6). */
const BROKEN_AFTER = 3;

/** A person has to act on these, so they break at once. */
const AT_ONCE: ReadonlySet<FailureReason> = new Set(["salesforce_authorization", "deletes_held"]);

const REST_SECONDS: Partial<Record<FailureReason, number>> = {
  salesforce_authorization: 60,
  salesforce_limit: 300,
};

/** The reason that a refusal of Salesforce is for the engine. */
export const REASON_OF: Readonly<Record<RefusalKind, FailureReason>> = {
  session: "salesforce_authorization",
  limit: "salesforce_limit",
  busy: "salesforce_unavailable",
  transient: "salesforce_unavailable",
  mapping: "salesforce_schema",
  replication: "salesforce_request",
  locator: "salesforce_request",
  bug: "salesforce_request",
};

/** The state after one more cycle, and the edge if it crossed one. A cycle that ended well has no failure. */
export function afterCycle(
  before: EngineState,
  failure: CycleFailure | null,
  at: Date,
): { readonly state: EngineState; readonly edge: "broken" | "recovered" | null } {
  if (!failure) return { state: HEALTHY, edge: before.brokenSince ? "recovered" : null };
  const failedCycles = before.failedCycles + 1;
  const breaks = !before.brokenSince && (failedCycles >= BROKEN_AFTER || AT_ONCE.has(failure.reason));
  const seconds = REST_SECONDS[failure.reason];
  return {
    state: {
      failedCycles,
      brokenSince: breaks ? at : before.brokenSince,
      lastFailure: failure,
      restUntil: seconds === undefined ? null : new Date(at.getTime() + seconds * 1000),
    },
    edge: breaks ? "broken" : null,
  };
}

/** Whether the state says the same, so that nothing has to be written. */
export function isSameState(one: EngineState, other: EngineState): boolean {
  return (
    one === other || (one.failedCycles === 0 && other.failedCycles === 0 && !one.brokenSince && !other.brokenSince)
  );
}
