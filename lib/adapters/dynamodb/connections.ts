import { GetCommand, UpdateCommand, type UpdateCommandInput } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { Vault } from "../../access/vault.ts";
import type { ConnectionStore } from "../../sync/sessions.ts";
import type { Database } from "./client.ts";
import { readSalesforce, writeSalesforce } from "./connection-text.ts";
import { workspaceKey } from "./workspace-key.ts";

/** A workspace's Salesforce connection in its item; the sealed text is the mark of its version. */
export function connections(database: Database, vault: Vault): ConnectionStore {
  return {
    read: async (workspaceId) => {
      const { Item } = await database.client.send(
        new GetCommand({
          TableName: database.table("workspaces"),
          Key: workspaceKey(workspaceId),
          ConsistentRead: true,
        }),
      );
      const { salesforce: mark } = item.parse(Item ?? {});
      return mark === undefined ? null : { connection: readSalesforce(await vault.open(workspaceId, mark)), mark };
    },

    claimRenewal: (workspaceId, mark, now, until) =>
      updateIf(database, workspaceId, {
        UpdateExpression: "SET renewal_until = :until",
        ConditionExpression: "salesforce = :mark AND (attribute_not_exists(renewal_until) OR renewal_until <= :now)",
        ExpressionAttributeValues: { ":mark": mark, ":now": now.getTime(), ":until": until.getTime() },
      }),

    abandonRenewal: async (workspaceId, mark) => {
      await updateIf(database, workspaceId, {
        UpdateExpression: "REMOVE renewal_until",
        ConditionExpression: "salesforce = :mark",
        ExpressionAttributeValues: { ":mark": mark },
      });
    },

    keep: async (workspaceId, mark, connection) => {
      const sealed = await vault.seal(workspaceId, writeSalesforce(connection));
      await updateIf(database, workspaceId, {
        UpdateExpression: "SET salesforce = :sealed REMOVE renewal_until",
        ConditionExpression: "salesforce = :mark",
        ExpressionAttributeValues: { ":mark": mark, ":sealed": sealed },
      });
    },
  };
}

const item = z.object({ salesforce: z.optional(z.string()) });

/** False when the condition does not hold: somebody else was first. */
async function updateIf(
  database: Database,
  workspaceId: string,
  update: Omit<UpdateCommandInput, "TableName" | "Key">,
): Promise<boolean> {
  try {
    await database.client.send(
      new UpdateCommand({ TableName: database.table("workspaces"), Key: workspaceKey(workspaceId), ...update }),
    );
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === "ConditionalCheckFailedException") return false;
    throw error;
  }
}
