import { GetCommand, paginateScan, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { Counters, KeptCounters, OtherCalls, QueueDepth } from "../../../metrics/ports.ts";
import type { MappingTotals } from "../../../model/totals.ts";
import type { Database } from "../client/client.ts";
import { updateIf } from "../client/transact.ts";

/** Sort keys of a workspace's queue depth, and of the calls that no cycle made. */
const QUEUE = "queue";
const CALLS = "calls";

/** By so much the clocks of two processes may differ, and a report come late. */
const DOUBTFUL_MILLISECONDS = 60_000;

/**
 * Totals as items, one per mapping. A mapping's totals all come from one row and only rise, so their sum says which of
 * two reports is the later one; unless that row was made anew, which shows in a smaller sum of a later cycle.
 */
export function counters(database: Database): Counters {
  const write = async (totals: MappingTotals, condition: string, beganAt: number, more: Record<string, number>) => {
    await updateIf(database, {
      TableName: database.table("counters"),
      Key: { pk: totals.workspaceId, sk: `mapping#${totals.mappingId}` },
      UpdateExpression:
        "SET sf_object = :object, rows_synced = :synced, rows_failed = :failed, api_calls = :calls, weight = :weight, began_at = :began",
      ConditionExpression: condition,
      ExpressionAttributeValues: {
        ":object": totals.sfObject,
        ":synced": totals.rowsSynced,
        ":failed": totals.rowsFailed,
        ":calls": totals.apiCalls,
        ":weight": weightOf(totals),
        ":began": beganAt,
        ...more,
      },
    });
  };

  return {
    begin: ({ workspaceId, id, sfObject }) =>
      write({ workspaceId, mappingId: id, sfObject, rowsSynced: 0, rowsFailed: 0, apiCalls: {} }, IS_NEW, 0, {}),
    set: (totals, cycleBeganAt) => {
      const beganAt = cycleBeganAt.getTime();
      const around = { ":before": beganAt - DOUBTFUL_MILLISECONDS, ":after": beganAt + DOUBTFUL_MILLISECONDS };
      return write(totals, `${IS_NEW} OR ${HAS_RISEN} OR ${BEGAN_ANEW}`, beganAt, around);
    },
    setQueueDepth: async ({ workspaceId, rows }, countedAt) => {
      await updateIf(database, {
        TableName: database.table("counters"),
        Key: { pk: workspaceId, sk: QUEUE },
        UpdateExpression: "SET #rows = :rows, counted_at = :at",
        ExpressionAttributeNames: { "#rows": "rows" },
        ExpressionAttributeValues: { ":rows": rows, ":at": countedAt.getTime() },
      });
    },
    addCalls: async ({ workspaceId, apiCalls }) => {
      const labels = Object.entries(apiCalls);
      if (labels.length === 0) return;
      await database.client.send(
        new UpdateCommand({
          TableName: database.table("counters"),
          Key: { pk: workspaceId, sk: CALLS },
          UpdateExpression: `ADD ${labels.map((_, at) => `#label${at} :calls${at}`).join(", ")}`,
          ExpressionAttributeNames: Object.fromEntries(labels.map(([label], at) => [`#label${at}`, `api#${label}`])),
          ExpressionAttributeValues: Object.fromEntries(labels.map(([, calls], at) => [`:calls${at}`, calls])),
        }),
      );
    },
    queueDepth: async (workspaceId) => {
      const { Item } = await database.client.send(
        new GetCommand({ TableName: database.table("counters"), Key: { pk: workspaceId, sk: QUEUE } }),
      );
      if (Item === undefined) return { rows: 0, countedAt: null };
      const { rows, counted_at: at } = depthItem.parse(Item);
      return { rows, countedAt: at === undefined ? null : new Date(at) };
    },
    readAll: () => readAll(database),
  };
}

const IS_NEW = "attribute_not_exists(weight)";
// A version before this one kept no time.
const HAS_RISEN = "(weight < :weight AND (attribute_not_exists(began_at) OR began_at < :after))";
const BEGAN_ANEW = "(weight > :weight AND (attribute_not_exists(began_at) OR began_at < :before))";

const weightOf = ({ rowsSynced, rowsFailed, apiCalls }: MappingTotals): number =>
  Object.values(apiCalls).reduce((sum, calls) => sum + calls, rowsSynced + rowsFailed);

const totalsItem = z.object({
  pk: z.string(),
  sk: z.string(),
  sf_object: z.string(),
  rows_synced: z.number(),
  rows_failed: z.number(),
  api_calls: z.record(z.string(), z.number()),
});

// A version before this one kept no time.
const depthItem = z.object({ pk: z.string(), rows: z.number(), counted_at: z.optional(z.number()) });

async function readAll(database: Database): Promise<KeptCounters> {
  const totals: MappingTotals[] = [];
  const depths: QueueDepth[] = [];
  const calls: OtherCalls[] = [];
  for await (const { Items } of paginateScan({ client: database.client }, { TableName: database.table("counters") })) {
    for (const item of Items ?? []) {
      if (item["sk"] === QUEUE) depths.push(readDepth(item));
      else if (item["sk"] === CALLS) calls.push(readCalls(item));
      else totals.push(readTotals(totalsItem.parse(item)));
    }
  }
  return { totals, depths, calls };
}

function readDepth(item: Record<string, unknown>): QueueDepth {
  const { pk, rows } = depthItem.parse(item);
  return { workspaceId: pk, rows };
}

function readCalls({ pk, sk: _, ...labels }: Record<string, unknown>): OtherCalls {
  const counted = Object.entries(labels).map(([label, calls]) => [label.replace(/^api#/, ""), Number(calls)]);
  return { workspaceId: String(pk), apiCalls: Object.fromEntries(counted) };
}

function readTotals(item: z.infer<typeof totalsItem>): MappingTotals {
  return {
    workspaceId: item.pk,
    mappingId: item.sk.replace(/^mapping#/, ""),
    sfObject: item.sf_object,
    rowsSynced: item.rows_synced,
    rowsFailed: item.rows_failed,
    apiCalls: item.api_calls,
  };
}
