import { GetCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { SweepNeeds } from "../../sync/sweep.ts";
import type { Database } from "./client.ts";
import { isConditionFailed } from "./transact.ts";

/** Beside the workspaces' items, whose keys are ids. */
const KEY = { pk: "sweep", sk: "minute" };

const item = z.object({ minute: z.number() });

/** How far the daily looks at all mappings are, over all invocations; it never goes back. */
export function sweptMinutes(database: Database): SweepNeeds["swept"] {
  return {
    read: async () => {
      const { Item } = await database.client.send(
        new GetCommand({ TableName: database.table("engine"), Key: KEY, ConsistentRead: true }),
      );
      return Item === undefined ? null : item.parse(Item).minute;
    },
    keep: async (minute) => {
      const update = new UpdateCommand({
        TableName: database.table("engine"),
        Key: KEY,
        UpdateExpression: "SET #minute = :minute",
        ConditionExpression: "attribute_not_exists(#minute) OR #minute < :minute",
        ExpressionAttributeNames: { "#minute": "minute" },
        ExpressionAttributeValues: { ":minute": minute },
      });
      await database.client.send(update).catch((error: unknown) => {
        if (!isConditionFailed(error)) throw error;
      });
    },
  };
}
