import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { EngineReport, EngineReports } from "../../health/ports.ts";
import { FAILURE_REASONS } from "../../model/engine.ts";
import type { Database } from "./client.ts";

const MAPPING = "mapping#";

/** What the engine's memory tells of a workspace's health. */
export function engineReports(database: Database): EngineReports {
  return {
    read: async (workspaceId) => {
      const items = await readItems(database, workspaceId);
      const shared = usageItem.safeParse(items.find(({ sk }) => sk === "workspace"));
      return {
        mappings: items.filter(({ sk }) => String(sk).startsWith(MAPPING)).map(readReport),
        usage: shared.success
          ? { used: shared.data.calls_used, limit: shared.data.calls_limit, at: new Date(shared.data.calls_at) }
          : null,
        budgetStep: shared.success ? shared.data.budget_step : 0,
        budgetSince: shared.success && shared.data.budget_since ? new Date(shared.data.budget_since) : null,
      };
    },
  };
}

async function readItems(database: Database, workspaceId: string): Promise<Record<string, unknown>[]> {
  const items: Record<string, unknown>[] = [];
  let from: Record<string, unknown> | undefined;
  do {
    const answer = await database.client.send(
      new QueryCommand({
        TableName: database.table("engine"),
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": workspaceId },
        ...(from === undefined ? {} : { ExclusiveStartKey: from }),
      }),
    );
    items.push(...(answer.Items ?? []));
    from = answer.LastEvaluatedKey;
  } while (from !== undefined);
  return items;
}

const usageItem = z.object({
  calls_used: z.number(),
  calls_limit: z.number(),
  calls_at: z.string(),
  budget_step: z.number(),
  budget_since: z.optional(z.nullable(z.string())),
});

// A newer version, which runs beside this one during an upgrade, may know more reasons.
const reason = z.catch(z.enum(FAILURE_REASONS), "engine_fault");

const stateItem = z.object({
  sk: z.string(),
  failed_cycles: z.number(),
  broken_since: z.nullable(z.string()),
  reason: z.nullable(reason),
  message: z.nullable(z.string()),
  load_reason: z.optional(reason),
  load_message: z.optional(z.string()),
});

function readReport(item: Record<string, unknown>): EngineReport {
  const { sk, failed_cycles, broken_since, ...kept } = stateItem.parse(item);
  // A failing cycle is told first: while it fails, nothing moves.
  const isCycles = failed_cycles > 0;
  return {
    mappingId: sk.slice(MAPPING.length),
    broken: broken_since !== null,
    failure: isCycles ? kept.reason : (kept.load_reason ?? null),
    message: isCycles ? kept.message : (kept.load_message ?? null),
    brokenSince: broken_since === null ? null : new Date(broken_since),
  };
}
