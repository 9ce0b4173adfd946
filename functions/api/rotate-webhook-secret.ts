import * as z from "zod/mini";
import { flag, invalid } from "../../lib/http/input.ts";
import { OVERLAP_SECONDS } from "../../lib/model/delivery/webhook.ts";
import { webhookAsJson, webhookWithSecret } from "../../lib/webhooks/as-json.ts";
import { findWebhook, prepareSecret, rotateSecret } from "../../lib/webhooks/settings.ts";
import { overlapSeconds } from "../../lib/webhooks/wish.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { vault, webhooks } from "../services/composition.ts";

const TOO_EARLY = {
  path: "query.overlap_seconds",
  message: "belongs to promote-secret: with prepare=true the old secret signs on until then",
};

export const handler = onLambda({
  route: "rotate-webhook-secret",
  summary:
    "Gives the webhook a new secret, shown here once; the old one signs beside it for overlap_seconds (24 hours). With prepare=true the old one keeps X-Bridge-Signature until promote-secret, for receivers that know one secret only; a secret that was prepared before ends.",
  input: z.object({ overlap_seconds: overlapSeconds, prepare: flag() }),
  output: webhookWithSecret,
  find: ({ path, workspace }) => findWebhook(webhooks(), workspace.id, path.webhook_id),
  run: async ({ input, resource, actor, at }) => {
    const services = { webhooks: webhooks(), vault: vault() };
    if (input.prepare && input.overlap_seconds !== OVERLAP_SECONDS) throw invalid([TOO_EARLY]);
    const { webhook, secret } = await (input.prepare
      ? prepareSecret(services, resource, { actor, at })
      : rotateSecret(services, resource, input.overlap_seconds, { actor, at }));
    return { ...webhookAsJson(webhook, at), secret };
  },
});
