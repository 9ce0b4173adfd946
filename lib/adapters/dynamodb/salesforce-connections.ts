import { GetCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { Vault } from "../../access/vault.ts";
import type { ConnectionStore } from "../../sync/sessions.ts";
import type { Database } from "./client.ts";
import { readSalesforce, writeSalesforce } from "./connection-text.ts";

/**
 * The Salesforce connection in the workspace's item. The sealed text is the mark of its version: sealing the same thing
 * twice gives two texts.
 */
export function salesforceConnections(database: Database, vault: Vault): ConnectionStore {
  return {
    read: async (workspaceId) => {
      const Key = keyOf(workspaceId);
      const get = new GetCommand({ TableName: database.table("workspaces"), Key, ConsistentRead: true });
      const { Item } = await database.client.send(get);
      const { salesforce } = item.parse(Item ?? {});
      if (salesforce === undefined) return null;
      return { connection: readSalesforce(await vault.open(workspaceId, salesforce)), mark: salesforce };
    },

    claimRenewal: (workspaceId, mark, now, until) =>
      updateIf(database, workspaceId, {
        UpdateExpression: "SET renewing_until = :until",
        ConditionExpression: "salesforce = :mark AND (attribute_not_exists(renewing_until) OR renewing_until < :now)",
        ExpressionAttributeValues: { ":mark": mark, ":now": now.toISOString(), ":until": until.toISOString() },
      }),

    abandonRenewal: async (workspaceId, mark) => {
      await updateIf(database, workspaceId, {
        UpdateExpression: "REMOVE renewing_until",
        ConditionExpression: "salesforce = :mark",
        ExpressionAttributeValues: { ":mark": mark },
      });
    },

    // Somebody may have connected another org meanwhile: then that connection stands.
    keep: async (workspaceId, mark, connection) => {
      await updateIf(database, workspaceId, {
        UpdateExpression: "SET salesforce = :connection REMOVE renewing_until",
        ConditionExpression: "salesforce = :mark",
        ExpressionAttributeValues: {
          ":mark": mark,
          ":connection": await vault.seal(workspaceId, writeSalesforce(connection)),
        },
      });
    },
  };
}

const keyOf = (workspaceId: string) => ({ pk: workspaceId, sk: "workspace" });

const item = z.object({ salesforce: z.optional(z.string()) });

interface WorkspaceUpdate {
  readonly UpdateExpression: string;
  readonly ConditionExpression: string;
  readonly ExpressionAttributeValues: Record<string, unknown>;
}

async function updateIf(database: Database, workspaceId: string, update: WorkspaceUpdate): Promise<boolean> {
  const Key = keyOf(workspaceId);
  try {
    await database.client.send(new UpdateCommand({ TableName: database.table("workspaces"), Key, ...update }));
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === "ConditionalCheckFailedException") return false;
    throw error;
  }
}
