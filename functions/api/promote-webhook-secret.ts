import * as z from "zod/mini";
import { webhook, webhookAsJson } from "../../lib/webhooks/as-json.ts";
import { findWebhook, promoteSecret } from "../../lib/webhooks/settings.ts";
import { overlapSeconds } from "../../lib/webhooks/wish.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { webhooks } from "../services/composition.ts";

export const handler = onLambda({
  route: "promote-webhook-secret",
  summary:
    "Lets the prepared secret sign X-Bridge-Signature; the old one signs beside it for overlap_seconds (24 hours).",
  input: z.object({ overlap_seconds: overlapSeconds }),
  output: webhook,
  services: () => ({ webhooks: webhooks() }),
  find: ({ path, workspace, services }) => findWebhook(services.webhooks, workspace.id, path.webhook_id),
  run: async ({ input, resource, services, actor, at }) =>
    webhookAsJson(await promoteSecret(services, resource, input.overlap_seconds, { actor, at }), at),
});
