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
  find: ({ path, workspace }) => findWebhook(webhooks(), workspace.id, path.webhook_id),
  run: async ({ input, resource, actor, at }) =>
    webhookAsJson(await promoteSecret({ webhooks: webhooks() }, resource, input.overlap_seconds, { actor, at }), at),
});
