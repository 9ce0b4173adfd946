import * as z from "zod/mini";
import type { EngineReport, EngineReports } from "../../../health/ports.ts";
import { type Budget, FRESH_BUDGET, type Usage } from "../../../model/budget.ts";
import type { Event } from "../../../model/delivery/event.ts";
import { type CycleFailure, type EngineState, FAILURE_REASONS, HEALTHY } from "../../../model/engine.ts";
import type { EngineMemory, KeptEngine, Remembered } from "../../../sync/cycle/cycle-ports.ts";
import { readItems } from "../client/batch.ts";
import type { Database } from "../client/client.ts";
import { queryAll } from "../client/read-item.ts";
import { ConditionFailed, transact, updateIf, type Write } from "../client/transact.ts";
import { putEvent } from "../delivery/event-item.ts";

/** Sort key of what a workspace's mappings share: the budget and the probe. */
const SHARED = "workspace";

const mappingKey = (mappingId: string) => `mapping#${mappingId}`;

/**
 * What the engine remembers of a workspace's mappings, by mapping id, in one eventually consistent reading: who saves
 * over a state that has moved on is told so.
 */
export async function readRemembered(
  database: Database,
  workspaceId: string,
): Promise<(mappingId: string) => Remembered> {
  const items = await readAll(database, workspaceId);
  const budget = readBudget(items.get(SHARED));
  return (mappingId) => ({ engine: readEngine(items.get(mappingKey(mappingId))), budget });
}

/** What the engine's memory tells of a workspace's health. */
export function engineReports(database: Database): EngineReports {
  return {
    read: async (workspaceId) => {
      const items = await readAll(database, workspaceId);
      const { usage, step, since = null } = readBudget(items.get(SHARED));
      const ofMappings = [...items].filter(([sk]) => sk.startsWith(mappingKey("")));
      return { mappings: ofMappings.map(reportOf), usage, budgetStep: step, budgetSince: since };
    },
  };
}

function reportOf([sk, item]: readonly [string, Record<string, unknown>]): EngineReport {
  const { failedCycles, lastFailure, loadFailure, brokenSince, callSize } = readEngine(item).state;
  // A failing cycle is told first: while it fails, nothing moves.
  const failure = failedCycles > 0 ? lastFailure : loadFailure;
  return {
    mappingId: sk.slice(mappingKey("").length),
    broken: brokenSince !== null,
    failure: failure?.reason ?? null,
    message: failure?.message ?? null,
    brokenSince,
    callSize,
  };
}

/** A workspace's items by their sort keys, eventually consistent. */
async function readAll(database: Database, workspaceId: string): Promise<ReadonlyMap<string, Record<string, unknown>>> {
  const items = await queryAll(database, "engine", {
    KeyConditionExpression: "pk = :pk",
    ExpressionAttributeValues: { ":pk": workspaceId },
  });
  return new Map(items.map((item) => [String(item["sk"]), item]));
}

/** The engine's memory as items: one per mapping that ever failed, one per workspace. */
export function engineMemory(database: Database): EngineMemory {
  const shared = (workspaceId: string) => ({
    TableName: database.table("engine"),
    Key: { pk: workspaceId, sk: SHARED },
  });

  return {
    read: async (workspaceId, mappingId) => {
      const keys = [SHARED, mappingKey(mappingId)].map((sk) => ({ pk: workspaceId, sk }));
      const items = await readItems(database, "engine", keys);
      return {
        engine: readEngine(items.find(({ sk }) => sk !== SHARED)),
        budget: readBudget(items.find(({ sk }) => sk === SHARED)),
      };
    },

    save: async (workspaceId, mappingId, before, after, events) => {
      const write = putState(database, workspaceId, mappingId, before, after);
      try {
        await transact(database, [write, ...events.map((event: Event) => putEvent(database, event))]);
        return true;
      } catch (error) {
        if (error instanceof ConditionFailed) return false;
        throw error;
      }
    },

    saveBudget: async (workspaceId, { usage, step, since = null }) => {
      const old = await updateIf(database, {
        ...shared(workspaceId),
        UpdateExpression:
          "SET calls_used = :used, calls_limit = :limit, calls_at = :at, budget_step = :step, budget_since = :since",
        ConditionExpression: "attribute_not_exists(calls_at) OR calls_at < :at",
        ExpressionAttributeValues: {
          ":used": usage.used,
          ":limit": usage.limit,
          ":at": usage.at.toISOString(),
          ":step": step,
          ":since": since?.toISOString() ?? null,
        },
        ReturnValues: "UPDATED_OLD",
      });
      return old !== null && (old["budget_step"] ?? FRESH_BUDGET.step) !== step;
    },

    claimProbe: async (workspaceId, slot) => {
      const claimed = await updateIf(database, {
        ...shared(workspaceId),
        UpdateExpression: "SET probe_slot = :slot",
        ConditionExpression: "attribute_not_exists(probe_slot) OR probe_slot < :slot",
        ExpressionAttributeValues: { ":slot": slot },
      });
      return claimed !== null;
    },
  };
}

const at = z.pipe(
  z.string(),
  z.transform((text: string) => new Date(text)),
);

// A newer version, which runs beside this one during an upgrade, may know more reasons.
const reason = z.catch(z.enum(FAILURE_REASONS), "engine_fault");

const stateItem = z.object({
  mark: z.number(),
  failed_cycles: z.number(),
  broken_since: z.nullable(at),
  reason: z.nullable(reason),
  message: z.nullable(z.string()),
  rest_until: z.nullable(at),
  // Left out while no load fails, and by versions before this one.
  failed_loads: z.optional(z.number()),
  load_reason: z.optional(reason),
  load_message: z.optional(z.string()),
  // Left out while no deletes are held, and by versions before this one.
  held_since: z.optional(at),
  held_announced_at: z.optional(at),
  // Left out until a call was too large, and by versions before this one.
  call_size: z.optional(z.number()),
  call_size_at: z.optional(at),
});

/** A mapping without an item has never failed. */
function readEngine(item: Record<string, unknown> | undefined): KeptEngine {
  if (item === undefined) return { state: HEALTHY, mark: 0 };
  const kept = stateItem.parse(item);
  return {
    mark: kept.mark,
    state: {
      failedCycles: kept.failed_cycles,
      brokenSince: kept.broken_since,
      lastFailure: failureIn(kept.reason, kept.message),
      restUntil: kept.rest_until,
      failedLoads: kept.failed_loads ?? 0,
      loadFailure: failureIn(kept.load_reason ?? null, kept.load_message),
      holding:
        kept.held_since && kept.held_announced_at
          ? { since: kept.held_since, announcedAt: kept.held_announced_at }
          : null,
      callSize: kept.call_size && kept.call_size_at ? { size: kept.call_size, at: kept.call_size_at } : null,
    },
  };
}

const failureIn = (reason: CycleFailure["reason"] | null, message: string | null | undefined): CycleFailure | null =>
  reason === null ? null : { reason, message: message ?? "" };

const budgetItem = z.object({
  calls_used: z.number(),
  calls_limit: z.number(),
  calls_at: at,
  budget_step: z.number(),
  // Earlier versions do not write it.
  budget_since: z.optional(z.nullable(at)),
});

function readBudget(item: Record<string, unknown> | undefined): Budget {
  const parsed = budgetItem.safeParse(item);
  if (!parsed.success) return FRESH_BUDGET; // only the probe has written so far
  const { calls_used, calls_limit, calls_at, budget_step, budget_since = null } = parsed.data;
  const usage: Usage = { used: calls_used, limit: calls_limit, at: calls_at };
  return { usage, step: budget_step, since: budget_since };
}

function putState(
  database: Database,
  workspaceId: string,
  mappingId: string,
  { mark }: KeptEngine,
  { failedCycles, brokenSince, lastFailure, restUntil, failedLoads, loadFailure, holding, callSize }: EngineState,
): Write {
  return {
    Put: {
      TableName: database.table("engine"),
      Item: {
        pk: workspaceId,
        sk: mappingKey(mappingId),
        mark: mark + 1,
        failed_cycles: failedCycles,
        broken_since: brokenSince?.toISOString() ?? null,
        reason: lastFailure?.reason ?? null,
        message: lastFailure?.message ?? null,
        rest_until: restUntil?.toISOString() ?? null,
        ...(loadFailure && {
          failed_loads: failedLoads,
          load_reason: loadFailure.reason,
          load_message: loadFailure.message,
        }),
        ...(holding && {
          held_since: holding.since.toISOString(),
          held_announced_at: holding.announcedAt.toISOString(),
        }),
        ...(callSize && { call_size: callSize.size, call_size_at: callSize.at.toISOString() }),
      },
      ConditionExpression: mark === 0 ? "attribute_not_exists(mark)" : "mark = :mark",
      ...(mark !== 0 && { ExpressionAttributeValues: { ":mark": mark } }),
    },
  };
}
