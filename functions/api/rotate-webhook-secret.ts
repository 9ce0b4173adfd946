import * as z from "zod/mini";
import { endpoint } from "../../lib/http/endpoint.ts";
import { webhookAsJson, webhookWithSecret } from "../../lib/webhooks/as-json.ts";
import { findWebhook, rotateSecret } from "../../lib/webhooks/settings.ts";
import { overlapSeconds } from "../../lib/webhooks/wish.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { vault, webhooks } from "../services/composition.ts";

/** Gives the webhook a new secret, shown here once; the old one signs beside it for `overlap_seconds` (24 hours). */
const rotateWebhookSecret = endpoint({
  route: "rotate-webhook-secret",
  summary:
    "Gives the webhook a new secret, shown here once; the old one signs beside it for overlap_seconds (24 hours).",
  input: z.object({ overlap_seconds: overlapSeconds }),
  output: webhookWithSecret,
  services: () => ({ webhooks: webhooks(), vault: vault() }),
  find: ({ path, workspace, services }) => findWebhook(services.webhooks, workspace.id, path.webhook_id),
  run: async ({ input, resource, services, actor, at }) => {
    const { webhook, secret } = await rotateSecret(services, resource, input.overlap_seconds, { actor, at });
    return { ...webhookAsJson(webhook, at), secret };
  },
});

export const handler = onLambda(rotateWebhookSecret);
