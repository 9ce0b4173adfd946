import { webhook, webhookAsJson } from "../../lib/webhooks/as-json.ts";
import { findWebhook } from "../../lib/webhooks/settings.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { webhooks } from "../services/composition.ts";

export const handler = onLambda({
  route: "read-webhook",
  summary: "One webhook, without its secret; the path of its URL, which can be a secret, is for the scope admin.",
  output: webhook,
  find: ({ path, workspace }) => findWebhook(webhooks(), workspace.id, path.webhook_id),
  run: async ({ resource, token, at }) => webhookAsJson(resource, at, token.scopes),
});
