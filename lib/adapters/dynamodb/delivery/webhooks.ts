import type { WebhookKey, WebhookSettings, Webhooks } from "../../../webhooks/ports.ts";
import { readItems } from "../client/batch.ts";
import type { Database } from "../client/client.ts";
import { differenceOf } from "../client/difference.ts";
import { queryAll, readItem } from "../client/read-item.ts";
import { updateIf } from "../client/transact.ts";
import { commit, commitIf } from "../commit.ts";
import { healthAttributes, readWebhook, settableAttributes, WEBHOOK_PREFIX, webhookItem } from "./webhook-item.ts";

const NOTHING = { failing_since: undefined, slow_until: undefined };

/** The webhooks of all workspaces. */
export function webhooks(database: Database): Webhooks & WebhookSettings {
  const TableName = database.table("webhooks");
  return {
    list: async (workspaceId) => {
      const found = await queryAll(database, "webhooks", {
        KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
        ExpressionAttributeValues: { ":pk": workspaceId, ":prefix": WEBHOOK_PREFIX },
        ConsistentRead: true,
      });
      return found.map(readWebhook).sort((one, other) => one.createdAt.getTime() - other.createdAt.getTime());
    },

    read: async (workspaceId, webhookId) => {
      const item = await readItem(database, "webhooks", keyOf({ workspaceId, webhookId }));
      return item ? readWebhook(item) : null;
    },

    readMany: async (keys) => {
      const distinct = new Map(keys.map((key) => [`${key.workspaceId}/${key.webhookId}`, keyOf(key)]));
      return (await readItems(database, "webhooks", [...distinct.values()])).map(readWebhook);
    },

    noteHealth: async (key, health) => {
      await updateIf(database, "webhooks", {
        Key: keyOf(key),
        ...differenceOf(NOTHING, healthAttributes(health)),
        ConditionExpression: "attribute_exists(pk)",
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
      return commitIf(database, { writes: [{ Update }], audit: [audit], events: [] });
    },

    delete: (key, audit) => {
      const Delete = { TableName, Key: keyOf(key), ConditionExpression: "attribute_exists(pk)" };
      return commitIf(database, { writes: [{ Delete }], audit: [audit], events: [] });
    },
  };
}

const keyOf = ({ workspaceId, webhookId }: WebhookKey) => ({ pk: workspaceId, sk: webhookId });
