import * as z from "zod/mini";
import { webhook, webhookAsJson } from "../../lib/webhooks/as-json.ts";
import { butNotOwn } from "../../lib/webhooks/own-address.ts";
import { changeWebhook as change, findWebhook } from "../../lib/webhooks/settings.ts";
import { webhookChange } from "../../lib/webhooks/wish.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { urlGuard, webhooks } from "../services/composition.ts";

export const handler = onLambda({
  route: "change-webhook",
  summary: "Changes URL, events, description or whether it is active; the secret stays.",
  input: z.object({ body: webhookChange }),
  output: webhook,
  find: ({ path, workspace }) => findWebhook(webhooks(), workspace.id, path.webhook_id),
  run: async ({ input, resource, actor, ownAddress, at }) => {
    const needs = { webhooks: webhooks(), isSafe: butNotOwn(urlGuard(), ownAddress) };
    return webhookAsJson(await change(needs, resource, input.body, { actor, at }), at);
  },
});
