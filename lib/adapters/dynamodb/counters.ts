import { GetCommand, paginateScan, UpdateCommand, type UpdateCommandInput } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { Counters, MappingTotals, QueueDepth } from "../../metrics/ports.ts";
import type { Database } from "./client.ts";

/** Sort key of a workspace's queue depth. */
const QUEUE = "queue";

/**
 * Totals as items, one per mapping. A mapping's totals all come from one row and only rise, so their sum says which of
 * two reports is the later one.
 */
export function counters(database: Database): Counters {
  const set = (totals: MappingTotals) =>
    updateIf(database, {
      TableName: database.table("counters"),
      Key: { pk: totals.workspaceId, sk: `mapping#${totals.mappingId}` },
      UpdateExpression:
        "SET sf_object = :object, rows_synced = :synced, rows_failed = :failed, api_calls = :calls, weight = :weight",
      ConditionExpression: "attribute_not_exists(weight) OR weight < :weight",
      ExpressionAttributeValues: {
        ":object": totals.sfObject,
        ":synced": totals.rowsSynced,
        ":failed": totals.rowsFailed,
        ":calls": totals.apiCalls,
        ":weight": weightOf(totals),
      },
    });

  return {
    begin: ({ workspaceId, id, sfObject }) =>
      set({ workspaceId, mappingId: id, sfObject, rowsSynced: 0, rowsFailed: 0, apiCalls: {} }),
    set,
    setQueueDepth: ({ workspaceId, rows }) =>
      updateIf(database, {
        TableName: database.table("counters"),
        Key: { pk: workspaceId, sk: QUEUE },
        UpdateExpression: "SET #rows = :rows",
        ExpressionAttributeNames: { "#rows": "rows" },
        ExpressionAttributeValues: { ":rows": rows },
      }),
    queueDepth: async (workspaceId) => {
      const { Item } = await database.client.send(
        new GetCommand({ TableName: database.table("counters"), Key: { pk: workspaceId, sk: QUEUE } }),
      );
      return Item === undefined ? 0 : depthItem.parse(Item).rows;
    },
    readAll: () => readAll(database),
  };
}

const weightOf = ({ rowsSynced, rowsFailed, apiCalls }: MappingTotals): number =>
  Object.values(apiCalls).reduce((sum, calls) => sum + calls, rowsSynced + rowsFailed);

async function updateIf(database: Database, update: UpdateCommandInput): Promise<void> {
  try {
    await database.client.send(new UpdateCommand(update));
  } catch (error) {
    if (!(error instanceof Error && error.name === "ConditionalCheckFailedException")) throw error;
  }
}

const totalsItem = z.object({
  pk: z.string(),
  sk: z.string(),
  sf_object: z.string(),
  rows_synced: z.number(),
  rows_failed: z.number(),
  api_calls: z.record(z.string(), z.number()),
});

const depthItem = z.object({ pk: z.string(), sk: z.literal(QUEUE), rows: z.number() });

const counterItem = z.union([depthItem, totalsItem]);

async function readAll(database: Database) {
  const totals: MappingTotals[] = [];
  const depths: QueueDepth[] = [];
  for await (const { Items } of paginateScan({ client: database.client }, { TableName: database.table("counters") })) {
    for (const stored of Items ?? []) {
      const item = counterItem.parse(stored);
      if ("rows" in item) depths.push({ workspaceId: item.pk, rows: item.rows });
      else totals.push(readTotals(item));
    }
  }
  return { totals, depths };
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
