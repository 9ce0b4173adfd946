import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { Vault } from "../../../access/ports.ts";
import type { WorkspaceRemoval } from "../../../access/remove-workspace.ts";
import type { TableName } from "../../../model/resources.ts";
import { deleteItems } from "../client/batch.ts";
import type { Database } from "../client/client.ts";
import { queryAll, readItem } from "../client/read-item.ts";
import { commitIf } from "../commit.ts";
import { WEBHOOK_PREFIX } from "../delivery/webhook-item.ts";
import { figuresKey } from "../engine/kept-figures.ts";
import { mappingKey } from "../mappings/mapping-item.ts";
import { readPostgres } from "./connection-text.ts";
import { readTokenItems } from "./tokens.ts";
import { workspaceKey } from "./workspace-key.ts";

type Item = Record<string, unknown>;

/** Tables in which a workspace has a partition of its own; deliveries and events of the past expire on their own. */
const PARTITIONED: readonly TableName[] = ["mappings", "webhooks", "engine", "counters", "baselines", "events"];

/** Takes workspaces apart in DynamoDB. */
export function workspaceRemoval(database: Database, vault: Vault): WorkspaceRemoval {
  const TableName = database.table("workspaces");
  return {
    find: async (workspaceId) => {
      const stored = await readItem(database, "workspaces", workspaceKey(workspaceId));
      if (stored === undefined) return null;
      const { name, deleted_at, gone_at, postgres } = item.parse(stored);
      return {
        id: workspaceId,
        name,
        deletedAt: deleted_at === undefined ? null : new Date(deleted_at),
        isGone: gone_at !== undefined,
        openPostgres: async () =>
          postgres === undefined ? null : readPostgres(await vault.open(workspaceId, postgres)),
      };
    },

    count: async (workspaceId) => ({
      mappings: (await keysOf(database, "mappings", workspaceId, mappingKey(""))).length,
      webhooks: (await keysOf(database, "webhooks", workspaceId, WEBHOOK_PREFIX)).length,
      tokens: (await tokensOf(database, workspaceId)).length,
    }),

    condemn: async (workspaceId, entry) => {
      const Update = {
        TableName,
        Key: workspaceKey(workspaceId),
        UpdateExpression: "SET deleted_at = :at",
        ConditionExpression: "attribute_exists(pk) AND attribute_not_exists(deleted_at)",
        ExpressionAttributeValues: { ":at": entry.createdAt.toISOString() },
      };
      await commitIf(database, { writes: [{ Update }], audit: [entry], events: [] }); // or it was condemned before
    },

    mappingIds: async (workspaceId) => {
      const keys = await keysOf(database, "mappings", workspaceId, mappingKey(""));
      return keys.map(({ sk }) => String(sk).slice(mappingKey("").length));
    },

    clear: async (workspaceId) => {
      for (const table of PARTITIONED) await deleteItems(database, table, await keysOf(database, table, workspaceId));
      await deleteItems(database, "engine", await keysOf(database, "engine", figuresKey(workspaceId)));
      const all = await keysOf(database, "workspaces", workspaceId);
      const others = all.filter(({ sk }) => sk !== workspaceKey(workspaceId).sk);
      await deleteItems(database, "workspaces", others);
      await deleteItems(database, "tokens", await tokensOf(database, workspaceId));
    },

    forget: async (workspaceId, at) => {
      await database.client.send(
        new UpdateCommand({
          TableName,
          Key: workspaceKey(workspaceId),
          UpdateExpression: "SET gone_at = :at REMOVE postgres, salesforce, renewal_until",
          ConditionExpression: "attribute_exists(deleted_at)",
          ExpressionAttributeValues: { ":at": at.toISOString() },
        }),
      );
    },
  };
}

const item = z.object({
  name: z.string(),
  deleted_at: z.optional(z.string()),
  gone_at: z.optional(z.string()),
  postgres: z.optional(z.string()),
});

/** The keys of a workspace's items in a table, of those that begin so. */
async function keysOf(database: Database, table: TableName, pk: string, prefix = ""): Promise<readonly Item[]> {
  const isAll = prefix === "";
  return queryAll(database, table, {
    KeyConditionExpression: isAll ? "pk = :pk" : "pk = :pk AND begins_with(sk, :prefix)",
    ExpressionAttributeValues: isAll ? { ":pk": pk } : { ":pk": pk, ":prefix": prefix },
    ProjectionExpression: "pk, sk",
    ConsistentRead: true,
  });
}

const tokensOf = async (database: Database, workspaceId: string): Promise<readonly Item[]> =>
  (await readTokenItems(database, workspaceId)).map(({ pk }) => ({ pk }));
