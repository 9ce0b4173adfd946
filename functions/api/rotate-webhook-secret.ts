import * as z from "zod/mini";
import { webhookAsJson, webhookWithSecret } from "../../lib/webhooks/as-json.ts";
import { findWebhook, rotateSecret } from "../../lib/webhooks/settings.ts";
import { overlapSeconds } from "../../lib/webhooks/wish.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { vault, webhooks } from "../services/composition.ts";

export const handler = onLambda({
  route: "rotate-webhook-secret",
  summary:
    "Gives the webhook a new secret, shown here once; the old one signs beside it for overlap_seconds (24 hours).",
  input: z.object({ overlap_seconds: overlapSeconds }),
  output: webhookWithSecret,
  find: ({ path, workspace }) => findWebhook(webhooks(), workspace.id, path.webhook_id),
  run: async ({ input, resource, actor, at }) => {
    const needs = { webhooks: webhooks(), vault: vault() };
    const { webhook, secret } = await rotateSecret(needs, resource, input.overlap_seconds, { actor, at });
    return { ...webhookAsJson(webhook, at), secret };
  },
});
