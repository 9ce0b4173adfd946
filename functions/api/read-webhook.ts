import { endpoint } from "../../lib/http/endpoint.ts";
import { webhook, webhookAsJson } from "../../lib/webhooks/as-json.ts";
import { findWebhook } from "../../lib/webhooks/settings.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { webhooks } from "../services/composition.ts";

/** One webhook, without its secret. */
const readWebhook = endpoint({
  route: "read-webhook",
  summary: "One webhook, without its secret.",
  output: webhook,
  services: () => ({ webhooks: webhooks() }),
  find: ({ path, workspace, services }) => findWebhook(services.webhooks, workspace.id, path.webhook_id),
  run: async ({ resource, at }) => webhookAsJson(resource, at),
});

export const handler = onLambda(readWebhook);
