import { QueryCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { AuditEntry } from "../../model/audit.ts";
import type { WebhookKey, WebhookSettings, Webhooks } from "../../webhooks/ports.ts";
import { readItems } from "./batch.ts";
import type { Database } from "./client.ts";
import { commit } from "./commit.ts";
import { differenceOf } from "./difference.ts";
import { ConditionFailed, isConditionFailed, type Write } from "./transact.ts";
import { healthAttributes, readWebhook, settableAttributes, WEBHOOK_PREFIX, webhookItem } from "./webhook-item.ts";

const NOTHING = { failing_since: undefined, slow_until: undefined };

/** The webhooks of all workspaces. */
export function webhooks(database: Database): Webhooks & WebhookSettings {
  const TableName = database.table("webhooks");
  return {
    list: async (workspaceId) => {
      const answer = await database.client.send(
        new QueryCommand({
          TableName,
          KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
          ExpressionAttributeValues: { ":pk": workspaceId, ":prefix": WEBHOOK_PREFIX },
          ConsistentRead: true,
        }),
      );
      const found = (answer.Items ?? []).map(readWebhook);
      return found.sort((one, other) => one.createdAt.getTime() - other.createdAt.getTime());
    },

    read: async (workspaceId, webhookId) => {
      const [item] = await readItems(database, "webhooks", [keyOf({ workspaceId, webhookId })]);
      return item ? readWebhook(item) : null;
    },

    readMany: async (keys) => {
      const distinct = new Map(keys.map((key) => [`${key.workspaceId}/${key.webhookId}`, keyOf(key)]));
      return (await readItems(database, "webhooks", [...distinct.values()])).map(readWebhook);
    },

    noteHealth: async (key, health) => {
      const update = new UpdateCommand({
        TableName,
        Key: keyOf(key),
        ...differenceOf(NOTHING, healthAttributes(health)),
        ConditionExpression: "attribute_exists(pk)",
      });
      await database.client.send(update).catch((error: unknown) => {
        if (!isConditionFailed(error)) throw error;
      });
    },

    create: async (webhook, audit) => {
      const Put = { TableName, Item: webhookItem(webhook), ConditionExpression: "attribute_not_exists(pk)" };
      await commit(database, { writes: [{ Put }], audit: [audit], events: [] });
    },

    change: (webhook, audit) => {
      const difference = differenceOf({}, settableAttributes(webhook));
      const Update = {
        TableName,
        Key: keyOf({ workspaceId: webhook.workspaceId, webhookId: webhook.id }),
        ...difference,
        ConditionExpression: "version = :before",
        ExpressionAttributeValues: { ...difference.ExpressionAttributeValues, ":before": webhook.version - 1 },
      };
      return committed(database, { Update }, audit);
    },

    delete: (key, audit) => {
      const Delete = { TableName, Key: keyOf(key), ConditionExpression: "attribute_exists(pk)" };
      return committed(database, { Delete }, audit);
    },
  };
}

/** False when the write's condition did not hold. */
async function committed(database: Database, write: Write, audit: AuditEntry): Promise<boolean> {
  try {
    await commit(database, { writes: [write], audit: [audit], events: [] });
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}

const keyOf = ({ workspaceId, webhookId }: WebhookKey) => ({ pk: workspaceId, sk: webhookId });
