import type { LearnedSize } from "./change/call-size.ts";
import type { RefusalKind } from "./change/refusal.ts";
import type { HighWater } from "./high-water.ts";
import type { Holding } from "./mapping/delete-breaker.ts";

/** How one mapping's cycles have been ending, and its loads beside them. */
export interface EngineState {
  /** Cycles in a row that were ended by an engine-level error. */
  readonly failedCycles: number;
  /** Null: not broken. The mapping is broken while its cycles or its loads are. */
  readonly brokenSince: Date | null;
  readonly lastFailure: CycleFailure | null;
  /** Until then beats stay away, so that a refused login or an empty budget is not asked every ten seconds. */
  readonly restUntil: Date | null;
  /** Attempts in a row at a load, backfill or sweep that were ended so. */
  readonly failedLoads: number;
  readonly loadFailure: CycleFailure | null;
  /** Held deletes, which do not break it; null: none. */
  readonly holding: Holding | null;
  /** What the org's triggers and flows could bear of its records in one call; null: whatever was sent. */
  readonly callSize: LearnedSize | null;
  /** How often its function died while a cycle of it was at work, within a day of each other; null: never of late. */
  readonly deaths: { readonly count: number; readonly at: Date } | null;
  /** Since when nothing is sent because the database was restored or copied, until a person accepts it; null: it was not. */
  readonly rewoundAt: Date | null;
  /** How far the database of the last failed cycle was, which could not be counted; null: it ended well. */
  readonly reached: HighWater | null;
}

/** The result of a requested cycle. Null counts: it did not run, and `error` says why. */
export interface PollOutcome {
  readonly endedAt: Date;
  readonly pulled: number | null;
  readonly accepted: number | null;
  readonly refused: number | null;
  /** Why it did not run, or what ended it before its work did; null: nothing. */
  readonly error: string | null;
}

/** An engine-level error: the cycle could not do its work, whatever the rows are. */
export interface CycleFailure {
  readonly reason: FailureReason;
  /** For the operator: names the thing and the remedy; holds no values of rows. */
  readonly message: string;
}

interface Reason {
  /** The first failed cycle breaks the mapping; without it the third in a row does. */
  readonly atOnce?: true;
  /** Beats stay away for so long after a failed cycle; left out: the next beat tries again. */
  readonly restSeconds?: number;
  /** During the rest only saves wait; pulls continue. */
  readonly pullsGoOn?: true;
  /** The next push begins with one call: records may be refused again, as many as are sent. */
  readonly probes?: true;
  /** A load that ends with it waits for an operator: the mapping is broken until it continues. */
  readonly awaitsSomebody?: true;
  /** What the operator does, as one clause. */
  readonly remedy: string;
}

/** Every reason for `sync.broken`, as it crosses the wire. A reason that is missing here does not compile. */
const REASONS = {
  salesforce_authorization: {
    atOnce: true,
    restSeconds: 60,
    remedy: "connect the workspace to Salesforce again",
  },
  salesforce_limit: {
    restSeconds: 300,
    remedy: "wait until calls of the last 24 hours expire, or raise the org's API limit; changes wait meanwhile",
  },
  salesforce_unavailable: {
    probes: true,
    remedy: "wait, it is tried again with every cycle; status.salesforce.com lists outages",
  },
  salesforce_schema: {
    remedy:
      "give the connected user access to the object and field that Salesforce names, or take them out of the mapping",
  },
  salesforce_request: { remedy: "look at the cycle's line in the log, and report it" },
  salesforce_too_large: {
    remedy:
      "give the connected user the permission View All Data, without which Salesforce does not go through so many records for it, or map fewer of them by a filter",
  },
  api_disabled: {
    atOnce: true,
    restSeconds: 60,
    remedy:
      "enable the API for the org and for the connected user, or ask Salesforce why it is off; changes wait meanwhile",
  },
  org_read_only: {
    atOnce: true,
    restSeconds: 60,
    pullsGoOn: true,
    probes: true,
    remedy: "wait until Salesforce's maintenance ends (status.salesforce.com); changes wait and are sent then",
  },
  org_storage_full: {
    atOnce: true,
    restSeconds: 60,
    pullsGoOn: true,
    probes: true,
    remedy: "free or buy storage (Salesforce Setup, Storage Usage); changes wait and are sent then",
  },
  postgres_unavailable: { remedy: "check the database with: bridge doctor" },
  capture_off: {
    atOnce: true,
    remedy: "run bridge mapping capture with --salesforce or --mine; nothing is pulled or sent meanwhile",
  },
  rows_hidden: {
    atOnce: true,
    remedy:
      "give the user that Bridge connects as BYPASSRLS, or end FORCE ROW LEVEL SECURITY of the table; nothing is pulled or sent meanwhile",
  },
  column_gone: {
    atOnce: true,
    remedy:
      "give the column its name back, or take its field out of the mapping; the application can write, nothing is pulled or sent meanwhile",
  },
  table_gone: {
    atOnce: true,
    remedy:
      "give the table its name and schema back, or deactivate the mapping and activate it again, which creates a new table",
  },
  first_match: {
    awaitsSomebody: true,
    remedy:
      "look at what the first load would change in Salesforce with bridge mapping dry-run, then run bridge mapping activate with its --digest; nothing is loaded or sent meanwhile",
  },
  function_died: {
    remedy:
      "raise memoryMegabytes of run-cycle in lib/model/resources.ts and deploy, or map fewer or shorter fields; after the second time the mapping runs alone for a day, so that no other one ends with it",
  },
  database_rewound: {
    atOnce: true,
    restSeconds: 60,
    pullsGoOn: true,
    remedy:
      "see with bridge restore plan what waits, then run bridge restore accept; pulls continue, nothing is sent meanwhile",
  },
  config_behind: {
    remedy:
      "DynamoDB was restored to an earlier time: see with bridge restore plan what changed since, then run bridge restore accept; nothing is pulled or sent meanwhile",
  },
  engine_fault: { remedy: "look at the cycle's line in the log, and report it" },
} as const satisfies Readonly<Record<string, Reason>>;

export type FailureReason = keyof typeof REASONS;

/** The same as a list, for schemas. */
export const FAILURE_REASONS = Object.keys(REASONS) as [FailureReason, ...FailureReason[]];

export const reasonFor = (reason: FailureReason): Reason => REASONS[reason];

export const HEALTHY: EngineState = {
  failedCycles: 0,
  brokenSince: null,
  lastFailure: null,
  restUntil: null,
  failedLoads: 0,
  loadFailure: null,
  holding: null,
  callSize: null,
  deaths: null,
  rewoundAt: null,
  reached: null,
};

const DAY_MILLISECONDS = 86_400_000;

/** After another death of its function. */
export function afterDeath({ deaths }: EngineState, at: Date): EngineState["deaths"] {
  return { count: isOfLate(deaths, at) ? deaths.count + 1 : 1, at };
}

/** How often its function died: from the second time on it runs when no other mapping does. 0: it runs with others. */
export const deathsAlone = ({ deaths }: EngineState, now: Date): number =>
  isOfLate(deaths, now) && deaths.count > 1 ? deaths.count : 0;

const isOfLate = (deaths: EngineState["deaths"], now: Date): deaths is NonNullable<EngineState["deaths"]> =>
  deaths !== null && now.getTime() - deaths.at.getTime() < DAY_MILLISECONDS;

/** So many failed cycles in a row, and the engine counts as broken. */
const BROKEN_AFTER = 3;

/** The reason that a refusal of Salesforce is for the engine. */
export const REASON_OF: Readonly<Record<RefusalKind, FailureReason>> = {
  session: "salesforce_authorization",
  limit: "salesforce_limit",
  busy: "salesforce_unavailable",
  transient: "salesforce_unavailable",
  mapping: "salesforce_schema",
  tooLarge: "salesforce_too_large",
  replication: "salesforce_request",
  locator: "salesforce_request",
  bug: "salesforce_request",
  disabled: "api_disabled",
  readOnly: "org_read_only",
  storageFull: "org_storage_full",
};

/** The state after a cycle or a load, and the edge if it crossed one. */
export interface EngineStep {
  readonly state: EngineState;
  readonly edge: "broken" | "recovered" | null;
}

/**
 * After one more cycle. One that ended well has no failure, and says nothing of a load that is unfinished (`owesLoad`):
 * that one's failures stay until it continues.
 */
export function afterCycle(before: EngineState, failure: CycleFailure | null, at: Date, owesLoad = false): EngineStep {
  const { failedLoads, loadFailure, holding, callSize, deaths, rewoundAt } = before;
  if (!failure) {
    const state = { ...HEALTHY, holding, callSize, deaths, rewoundAt, ...(owesLoad && { failedLoads, loadFailure }) };
    return stepTo(before, state, isLoadBroken(state), at);
  }
  const failedCycles = before.failedCycles + 1;
  const { atOnce = false, restSeconds: seconds } = reasonFor(failure.reason);
  const restUntil = seconds === undefined ? null : new Date(at.getTime() + seconds * 1000);
  const isBroken = before.brokenSince !== null || failedCycles >= BROKEN_AFTER || atOnce;
  return stepTo(before, { ...before, failedCycles, lastFailure: failure, restUntil }, isBroken, at);
}

/** After one more attempt at a load. One that continues has no failure; a failing cycle keeps the mapping broken. */
export function afterLoad(before: EngineState, failure: CycleFailure | null, at: Date): EngineStep {
  const { brokenSince, failedCycles } = before;
  if (!failure) {
    const state = { ...before, failedLoads: 0, loadFailure: null };
    return stepTo(before, state, brokenSince !== null && failedCycles > 0, at);
  }
  // What breaks at once breaks the cycles as well, so that three attempts suffice here whatever the reason is.
  const state = { ...before, failedLoads: before.failedLoads + 1, loadFailure: failure };
  return stepTo(before, state, brokenSince !== null || isLoadBroken(state), at);
}

const isLoadBroken = ({ failedLoads, loadFailure }: EngineState): boolean =>
  failedLoads >= BROKEN_AFTER || (loadFailure !== null && reasonFor(loadFailure.reason).awaitsSomebody === true);

function stepTo({ brokenSince: since }: EngineState, state: EngineState, isBroken: boolean, at: Date): EngineStep {
  const brokenSince = isBroken ? (since ?? at) : null;
  if ((since === null) === (brokenSince === null)) return { state: { ...state, brokenSince }, edge: null };
  return { state: { ...state, brokenSince }, edge: isBroken ? "broken" : "recovered" };
}

/** Whether the state says the same, so that nothing has to be written. */
export function isSameState(one: EngineState, other: EngineState): boolean {
  const isQuiet = one.failedCycles === 0 && other.failedCycles === 0 && one.failedLoads === other.failedLoads;
  const isSilent = one.holding?.announcedAt.getTime() === other.holding?.announcedAt.getTime();
  const isSameSize = one.callSize?.at.getTime() === other.callSize?.at.getTime();
  const isSameTime = one.rewoundAt?.getTime() === other.rewoundAt?.getTime();
  return isQuiet && isSilent && isSameSize && isSameTime && one.brokenSince?.getTime() === other.brokenSince?.getTime();
}
