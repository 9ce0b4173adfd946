import * as z from "zod/mini";
import { endpoint } from "../../lib/http/endpoint.ts";
import { findWebhook, deleteWebhook as remove } from "../../lib/webhooks/settings.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { webhooks } from "../services/composition.ts";

/** Deletes a webhook; what it is still owed is not tried again. */
const deleteWebhook = endpoint({
  route: "delete-webhook",
  summary: "Deletes a webhook; what it is still owed is not tried again.",
  output: z.object({ deleted: z.boolean(), webhook_id: z.string() }),
  services: () => ({ webhooks: webhooks() }),
  find: ({ path, workspace, services }) => findWebhook(services.webhooks, workspace.id, path.webhook_id),
  run: async ({ resource, services, actor, at }) => {
    await remove(services.webhooks, resource, { actor, at });
    return { deleted: true, webhook_id: resource.id };
  },
});

export const handler = onLambda(deleteWebhook);
