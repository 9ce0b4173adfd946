import type { LearnedSize } from "./change/call-size.ts";
import type { RefusalKind } from "./change/refusal.ts";
import type { HighWater } from "./high-water.ts";
import type { Holding } from "./mapping/delete-breaker.ts";

/** How one mapping's cycles have been ending, and its loads beside them. */
export interface EngineState {
  /** Cycles in a row that were ended by an engine-level error. */
  readonly failedCycles: number;
  /** When the first of them ended. */
  readonly failingSince: Date | null;
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
  /** For the operator: names the thing; holds no values of rows. */
  readonly message: string;
  /** What helps against this very failure; left out: what its reason says, unless the message does. */
  readonly remedy?: string | undefined;
}

/** A failure in one sentence, with its remedy where that is its own. */
export const inWords = ({ message, remedy }: Pick<CycleFailure, "message" | "remedy">): string =>
  remedy === undefined ? message : `${message.replace(/\.$/, "")}; ${remedy}`;

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
  /** What happened, as a clause. */
  readonly what: string;
  /** All mappings that share it have this trouble; left out: one mapping has it. */
  readonly of?: "org" | "database";
  /** What the operator does, as one clause. */
  readonly remedy: string;
  /** The commands for it, `{}` for the object; left out: those that try it again. */
  readonly commands?: readonly string[];
  /** When what waits is sent automatically. */
  readonly sentWhen: string;
}

/** Every reason for `sync.broken`, as it crosses the wire. A reason that is missing here does not compile. */
const REASONS = {
  salesforce_authorization: {
    of: "org",
    what: "Salesforce refuses Bridge's sign-in",
    commands: ["bridge connect salesforce"],
    sentWhen: "once the workspace is connected again",
    atOnce: true,
    restSeconds: 60,
    remedy: "connect the workspace to Salesforce again",
  },
  salesforce_limit: {
    atOnce: true,
    of: "org",
    what: "Salesforce refuses every call: the org's API calls of the last 24 hours are used up",
    commands: ["bridge poll {}", "bridge budget"],
    sentWhen: "once calls are left",
    restSeconds: 300,
    remedy: "wait until calls of the last 24 hours expire, or raise the org's API limit; changes wait meanwhile",
  },
  salesforce_unavailable: {
    of: "org",
    what: "Salesforce does not answer as it should",
    sentWhen: "once Salesforce answers",
    probes: true,
    remedy: "wait: Bridge tries again with every cycle; status.salesforce.com lists outages",
  },
  salesforce_schema: {
    what: "Salesforce does not show Bridge the object or a field",
    sentWhen: "once the user has access",
    remedy:
      "give the connected user access to the object and field that Salesforce names, or take them out of the mapping",
  },
  salesforce_request: {
    what: "Salesforce refuses Bridge's request",
    commands: ["bridge mapping show {}"],
    sentWhen: "once this is corrected",
    remedy: "find the cause in the log by the mapping's id, and report it",
  },
  salesforce_too_large: {
    what: "Salesforce refuses to search so many records",
    sentWhen: "once Salesforce can read them",
    remedy:
      "give the connected user View All Data, with which Salesforce checks fewer records, or map fewer records with a filter",
  },
  api_disabled: {
    of: "org",
    what: "the API of the org is off",
    sentWhen: "once the API is on",
    atOnce: true,
    restSeconds: 60,
    remedy:
      "enable the API for the org and for the connected user, or ask Salesforce why it is off; changes wait meanwhile",
  },
  org_read_only: {
    of: "org",
    what: "the org is read only",
    sentWhen: "when the maintenance ends",
    atOnce: true,
    restSeconds: 60,
    pullsGoOn: true,
    probes: true,
    remedy: "wait until Salesforce's maintenance ends (status.salesforce.com); changes wait and are sent then",
  },
  org_storage_full: {
    of: "org",
    what: "the org's storage is full",
    sentWhen: "once there is storage",
    atOnce: true,
    restSeconds: 60,
    pullsGoOn: true,
    probes: true,
    remedy: "free or buy storage (Salesforce Setup, Storage Usage); changes wait and are sent then",
  },
  postgres_unavailable: {
    of: "database",
    what: "PostgreSQL does not answer as it should",
    commands: ["bridge doctor"],
    sentWhen: "once PostgreSQL answers",
    remedy: "check that the server runs and accepts Bridge's connections; bridge doctor says more",
  },
  capture_off: {
    what: "changes of the table are not captured",
    commands: ["bridge mapping capture {} --salesforce", "bridge mapping capture {} --mine"],
    sentWhen: "once capture is on again",
    atOnce: true,
    remedy:
      "choose with bridge mapping capture: --salesforce discards what was written meanwhile, --mine sends every row; nothing is pulled or sent until then",
  },
  rows_hidden: {
    what: "row-level security hides rows from Bridge",
    sentWhen: "once Bridge sees all rows",
    atOnce: true,
    remedy:
      "give BYPASSRLS to the user that Bridge connects as, or end FORCE ROW LEVEL SECURITY of the table; nothing is pulled or sent meanwhile",
  },
  column_gone: {
    what: "a mapped column is gone",
    sentWhen: "once the column is back, or its field is not mapped",
    atOnce: true,
    remedy:
      "give the column its name back, or take its field out of the mapping; meanwhile the application can write, but nothing is pulled or sent",
  },
  table_gone: {
    what: "the mapped table is gone",
    commands: ["bridge mapping deactivate {}", "bridge mapping activate {}"],
    sentWhen: "once the table is back",
    atOnce: true,
    remedy:
      "give the table its name and schema back, or deactivate the mapping and activate it again, which creates a new table",
  },
  first_match: {
    what: "the first load would change records in Salesforce",
    commands: ["bridge mapping dry-run {}"],
    sentWhen: "once the mapping is activated with the digest",
    awaitsSomebody: true,
    remedy:
      "run bridge mapping dry-run to see what the first load would change in Salesforce, then bridge mapping activate with its --digest; nothing is loaded or sent meanwhile",
  },
  function_died: {
    what: "the function died while a cycle was running",
    sentWhen: "once a cycle ends well",
    remedy:
      "raise memoryMegabytes of run-cycle in lib/model/resources.ts and deploy, or map fewer or shorter fields; after the second death the mapping runs alone for a day, so that it ends no other mapping's cycle",
  },
  database_rewound: {
    what: "the database was restored to an earlier time",
    commands: ["bridge restore plan", "bridge restore accept {}"],
    sentWhen: "once the restore is accepted",
    atOnce: true,
    restSeconds: 60,
    pullsGoOn: true,
    remedy:
      "run bridge restore plan to see what waits, then bridge restore accept; pulls continue, but nothing is sent meanwhile",
  },
  config_behind: {
    what: "DynamoDB was restored to an earlier time",
    commands: ["bridge restore plan", "bridge restore accept {}"],
    sentWhen: "once the restore is accepted",
    remedy:
      "DynamoDB was restored to an earlier time: run bridge restore plan to see what changed since, then bridge restore accept; nothing is pulled or sent meanwhile",
  },
  engine_fault: {
    what: "Bridge had an internal error",
    commands: ["bridge mapping show {}"],
    sentWhen: "once a cycle ends well",
    remedy: "find the cause in the log by the mapping's id, and report it",
  },
} as const satisfies Readonly<Record<string, Reason>>;

export type FailureReason = keyof typeof REASONS;

/** The same as a list, for schemas. */
export const FAILURE_REASONS = Object.keys(REASONS) as [FailureReason, ...FailureReason[]];

export const reasonFor = (reason: FailureReason): Reason => REASONS[reason];

export const HEALTHY: EngineState = {
  failedCycles: 0,
  failingSince: null,
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
  const failingSince = before.failedCycles > 0 ? before.failingSince : at;
  return stepTo(before, { ...before, failedCycles, failingSince, lastFailure: failure, restUntil }, isBroken, at);
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
