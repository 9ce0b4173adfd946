import { DeleteCommand } from "@aws-sdk/lib-dynamodb";
import type { SilentDatabases } from "../../../monitoring/ports.ts";
import type { Database } from "../client/client.ts";
import { readItem } from "../client/read-item.ts";
import { updateIf } from "../client/transact.ts";

/** Databases that do not answer, beside the counts of requests, which every function that asks one may write. */
export function silentDatabases(database: Database): SilentDatabases {
  const keyOf = (name: string) => ({ pk: `silent#${name}` });
  return {
    until: async (name) => Number((await readItem(database, "rateLimits", keyOf(name)))?.["silent_until"] ?? 0),
    claim: async (name, at, until) => {
      const claimed = await updateIf(database, "rateLimits", {
        Key: keyOf(name),
        UpdateExpression: "SET silent_until = :until, expires_at = :expires",
        ConditionExpression: "attribute_not_exists(silent_until) OR silent_until <= :at",
        ExpressionAttributeValues: { ":at": at, ":until": until, ":expires": Math.ceil(until / 1000) },
      });
      return claimed !== null;
    },
    end: async (name) => {
      await database.client.send(new DeleteCommand({ TableName: database.table("rateLimits"), Key: keyOf(name) }));
    },
  };
}
