import * as z from "zod/mini";
import { findWebhook, deleteWebhook as remove } from "../../lib/webhooks/settings.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { webhooks } from "../services/composition.ts";

export const handler = onLambda({
  route: "delete-webhook",
  summary: "Deletes a webhook; its unfinished deliveries are not attempted again.",
  output: z.object({ deleted: z.boolean(), webhook_id: z.string() }),
  find: ({ path, workspace }) => findWebhook(webhooks(), workspace.id, path.webhook_id),
  run: async ({ resource, actor, at }) => {
    await remove(webhooks(), resource, { actor, at });
    return { deleted: true, webhook_id: resource.id };
  },
});
