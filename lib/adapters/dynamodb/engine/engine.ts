import * as z from "zod/mini";
import type { EngineReport, EngineReports, WorkspaceReport } from "../../../health/ports.ts";
import { type Budget, FRESH_BUDGET, paceOf } from "../../../model/calls/budget.ts";
import { DEFAULT_SHARE } from "../../../model/calls/plan.ts";
import { type CycleFailure, type EngineState, FAILURE_REASONS, HEALTHY, inWords } from "../../../model/engine.ts";
import { toCamelCase, toSnakeCase } from "../../../model/snake-case.ts";
import type { CallShares } from "../../../settings/ports.ts";
import type { EngineMemory, KeptEngine, StoredEnds } from "../../../sync/ports/cycle-ports.ts";
import type { UpgradeNeeds } from "../../../sync/schema/upgrade-schema.ts";
import type { Database } from "../client/client.ts";
import { present, settingOf } from "../client/difference.ts";
import { queryAll, readEach, scanAll } from "../client/read-item.ts";
import { optionalTime, storedTime } from "../client/stored-time.ts";
import { updateIf, type Write } from "../client/transact.ts";
import { commit, commitIf } from "../commit.ts";
import { claimWake, doorbellOf, noteMissed } from "./doorbells.ts";
import { highWaterFor, highWaterItem, highWaterOf, readHighWater } from "./high-water.ts";
import { figuresKey, readFigures } from "./kept-figures.ts";
import { endPoll, pollsKey, readOpenPolls } from "./polls.ts";

/** Sort key of what a workspace's mappings share: the budget and the probe. */
const SHARED = "workspace";

const sharedKey = (workspaceId: string) => ({ pk: workspaceId, sk: SHARED });

export const mappingKey = (mappingId: string) => `mapping#${mappingId}`;

/**
 * The engine state of a workspace's mappings, by mapping id, in one eventually consistent query: a save over a
 * state that has moved on is refused.
 */
export async function readStored(database: Database, workspaceId: string): Promise<(mappingId: string) => StoredEnds> {
  const items = await readAll(database, workspaceId);
  const budget = budgetIn(items);
  return (mappingId) => ({ engine: readEngine(items.get(mappingKey(mappingId))), budget });
}

type Items = ReadonlyMap<string, Record<string, unknown>>;

const budgetIn = (items: Items): Budget => ({ ...readBudget(items.get(SHARED)), doorbell: doorbellOf(items) });

/** The part of a workspace's health that the engine state shows. */
export function engineReports(database: Database, now: () => Date): EngineReports {
  return {
    read: async (workspaceId) => workspaceReport(await readAll(database, workspaceId)),
    readAll: async () => {
      const found: Record<string, unknown>[] = [];
      for await (const items of scanAll(database, "engine")) found.push(...items);
      const byKey = Map.groupBy(found, ({ pk }) => String(pk));
      const ids = new Set([...byKey.keys()].map((key) => key.replace(/#.*/, "")));
      const reports = [...ids].map((id) => {
        const [figures = null] = readEach(byKey.get(figuresKey(id)) ?? [], (item) => readFigures(item, now()));
        const openPolls = readOpenPolls(byKey.get(pollsKey(id)) ?? []);
        return [id, { ...workspaceReport(bySortKey(byKey.get(id) ?? [])), figures, openPolls }] as const;
      });
      return new Map(reports);
    },
  };
}

function workspaceReport(items: Items): WorkspaceReport {
  const budget = budgetIn(items);
  const ofMappings = [...items.values()].filter(({ sk }) => String(sk).startsWith(mappingKey("")));
  const refusal = items.get(SHARED)?.["upgrade_refusal"];
  const upgradeRefusal = typeof refusal === "string" ? refusal : null;
  return { mappings: readEach(ofMappings, reportOf), usage: budget.usage, budget, upgradeRefusal };
}

function reportOf(item: Record<string, unknown>): EngineReport {
  const { failedCycles, failingSince, lastFailure, loadFailure, brokenSince, restUntil, callSize, rewoundAt } =
    readEngine(item).state;
  // A failing cycle is reported first: while it fails, nothing moves.
  const failure = failedCycles > 0 ? lastFailure : loadFailure;
  return {
    mappingId: String(item["sk"]).slice(mappingKey("").length),
    broken: brokenSince !== null,
    failure: failure?.reason ?? null,
    message: failure && inWords(failure),
    said: failure && { message: failure.message, remedy: failure.remedy },
    failingSince: failingSince ?? brokenSince,
    brokenSince,
    restUntil,
    callSize,
    rewoundAt,
  };
}

/** The share of an org's calls that a workspace may make, kept beside its plan. */
export const callShares = (database: Database): CallShares => ({
  set: (workspaceId, { calls_share, most_calls, when_quiet_seconds }, entry) => {
    const settings = settingOf({ calls_share, most_calls, when_quiet_seconds });
    const Update = { TableName: database.table("engine"), Key: sharedKey(workspaceId), ...settings };
    return commit(database, { writes: [{ Update }], audit: [entry], events: [] });
  },
});

/** How the last try to upgrade a workspace's schema ended. */
export const upgradeRefusals = (database: Database): UpgradeNeeds["refusals"] => ({
  set: async (workspaceId, refusal) => {
    await updateIf(database, "engine", {
      Key: sharedKey(workspaceId),
      ...settingOf({ upgrade_refusal: refusal }),
    });
  },
});

/** A workspace's items by their sort keys, eventually consistent. */
async function readAll(database: Database, workspaceId: string): Promise<Items> {
  const items = await queryAll(database, "engine", {
    KeyConditionExpression: "pk = :pk",
    ExpressionAttributeValues: { ":pk": workspaceId },
  });
  return bySortKey(items);
}

const bySortKey = (items: readonly Record<string, unknown>[]) =>
  new Map(items.map((item) => [String(item["sk"]), item]));

/**
 * The engine's memory as items of a workspace: one of its own, one per mapping that ever failed, one per mapping that was
 * rung or nudged for; and the ends of polls and figures in partitions of their own.
 */
export function engineMemory(database: Database): EngineMemory {
  return {
    read: async (workspaceId, mappingId) => (await readStored(database, workspaceId))(mappingId),

    save: (workspaceId, mappingId, before, after, events) => {
      const write = putState(database, workspaceId, mappingId, before, after);
      return commitIf(database, { writes: [write], audit: [], events });
    },

    saveBudget: async (workspaceId, make) => {
      const made = await make();
      const { usage, plan, since: budgetSince } = made;
      const budget = { callsUsed: usage.used, callsLimit: usage.limit, callsAt: usage.at, budgetSince, plan };
      const step = STEPS[paceOf(plan)];
      const old = await updateIf(database, "engine", {
        Key: sharedKey(workspaceId),
        ...settingOf({ ...toSnakeCase(budgetItem, budget), budget_step: step, planned_at: plan.at.toISOString() }),
        ConditionExpression: "attribute_not_exists(planned_at) OR planned_at < :planned_at",
        ReturnValues: "UPDATED_OLD",
      });
      return old !== null && (old["budget_step"] ?? STEPS.normal) !== step ? made : null;
    },

    claimProbe: async (workspaceId, slot) => {
      const claimed = await updateIf(database, "engine", {
        Key: sharedKey(workspaceId),
        ...settingOf({ probe_slot: slot }),
        ConditionExpression: "attribute_not_exists(probe_slot) OR probe_slot < :probe_slot",
      });
      return claimed !== null;
    },

    claimWake: (asked) => claimWake(database, asked),
    noteMissed: (workspaceId, mappingId, at) => noteMissed(database, workspaceId, mappingId, at),
    endPoll: (workspaceId, mark, outcome) => endPoll(database, workspaceId, mark, outcome),
    highWater: (workspaceId, mappingId) => readHighWater(database, workspaceId, mappingId),
  };
}

// A newer version, which runs beside this one during an upgrade, may know more reasons.
const reason = z.catch(z.enum(FAILURE_REASONS), "engine_fault");

const stateItem = z.object({
  mark: z.number(),
  failed_cycles: z.number(),
  broken_since: z.nullable(storedTime),
  reason: z.nullable(reason),
  message: z.nullable(z.string()),
  rest_until: z.nullable(storedTime),
});

const optional = <Of extends z.ZodMiniType>(schema: Of) => z._default(z.nullable(schema), null);

/** Left out while no load fails, while no deletes are held, until a call was too large or its function died; and by versions before this one. */
const moreState = z.object({
  failing_since: optionalTime,
  remedy: optional(z.string()),
  failed_loads: optional(z.number()),
  load_reason: optional(reason),
  load_message: optional(z.string()),
  load_remedy: optional(z.string()),
  held_since: optionalTime,
  held_announced_at: optionalTime,
  call_size: optional(z.number()),
  call_size_at: optionalTime,
  deaths: optional(z.number()),
  died_at: optionalTime,
  rewound_at: optionalTime,
  reached: optional(highWaterItem),
});

/** A mapping without an item has never failed. */
function readEngine(item: Record<string, unknown> | undefined): KeptEngine {
  if (item === undefined) return { state: HEALTHY, version: 0 };
  const { mark: version, reason, message, ...cycles } = toCamelCase(stateItem, stateItem.parse(item));
  const more = toCamelCase(moreState, moreState.parse(item));
  const { heldSince: since, heldAnnouncedAt: announcedAt, callSize: size, callSizeAt: at } = more;
  return {
    version,
    state: {
      ...cycles,
      failingSince: more.failingSince,
      lastFailure: failureIn(reason, message, more.remedy),
      failedLoads: more.failedLoads ?? 0,
      loadFailure: failureIn(more.loadReason, more.loadMessage, more.loadRemedy),
      holding: since && announcedAt ? { since, announcedAt } : null,
      callSize: size && at ? { size, at } : null,
      deaths: more.deaths && more.diedAt ? { count: more.deaths, at: more.diedAt } : null,
      rewoundAt: more.rewoundAt,
      reached: more.reached && highWaterOf(more.reached),
    },
  };
}

const failureIn = (
  reason: CycleFailure["reason"] | null,
  message: string | null,
  remedy: string | null,
): CycleFailure | null => (reason === null ? null : { reason, message: message ?? "", ...(remedy && { remedy }) });

/** What a version that knows no plan makes of a pace: it pulls as configured, a third as often, or makes no call. */
const STEPS = { normal: 0, stretched: 1, waiting: 5 } as const;

const planItem = z.object({
  at: storedTime,
  allowed: z.number(),
  used: z.number(),
  paceSeconds: z.number(),
  ringSeconds: z.number(),
  pushCalls: z.number(),
  spareCalls: z.number(),
});

const shareItem = z.object({
  calls_share: z.number(),
  most_calls: z.nullable(z.number()),
  // Earlier versions do not write it.
  when_quiet_seconds: z._default(z.nullable(z.number()), null),
});

const budgetItem = z.object({
  calls_used: z.number(),
  calls_limit: z.number(),
  calls_at: storedTime,
  // Earlier versions do not write them.
  budget_since: optionalTime,
  plan: z._default(z.nullable(planItem), null),
});

function readBudget(item: Record<string, unknown> | undefined): Budget {
  const parsed = budgetItem.safeParse(item);
  const asked = shareItem.safeParse(item);
  const share = asked.success ? { share: asked.data.calls_share, most: asked.data.most_calls } : DEFAULT_SHARE;
  const whenQuiet = asked.data?.when_quiet_seconds ?? null;
  if (!parsed.success) return { ...FRESH_BUDGET, share, whenQuiet }; // only the probe has written so far
  const { callsUsed: used, callsLimit: limit, callsAt: at, budgetSince, plan } = toCamelCase(budgetItem, parsed.data);
  return { ...FRESH_BUDGET, usage: { used, limit, at }, share, whenQuiet, plan, since: plan && budgetSince };
}

function putState(
  database: Database,
  workspaceId: string,
  mappingId: string,
  { version }: KeptEngine,
  { lastFailure, loadFailure, holding, callSize, deaths, reached, ...state }: EngineState,
): Write {
  const { reason = null, message = null, remedy = null } = lastFailure ?? {};
  const more = {
    ...{ ...state, remedy, failedLoads: loadFailure && state.failedLoads },
    ...{ loadReason: loadFailure?.reason ?? null, loadMessage: loadFailure?.message ?? null },
    loadRemedy: loadFailure?.remedy ?? null,
    ...{ heldSince: holding?.since ?? null, heldAnnouncedAt: holding?.announcedAt ?? null },
    ...{ callSize: callSize?.size ?? null, callSizeAt: callSize?.at ?? null },
    ...{ deaths: deaths?.count ?? null, diedAt: deaths?.at ?? null },
    reached: reached && highWaterFor(reached),
  };
  return {
    Put: {
      TableName: database.table("engine"),
      Item: {
        ...{ pk: workspaceId, sk: mappingKey(mappingId) },
        ...toSnakeCase(stateItem, { ...state, reason, message, mark: version + 1 }),
        ...present(toSnakeCase(moreState, more)),
      },
      ConditionExpression: version === 0 ? "attribute_not_exists(mark)" : "mark = :mark",
      ...(version !== 0 && { ExpressionAttributeValues: { ":mark": version } }),
    },
  };
}
