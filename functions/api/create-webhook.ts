import * as z from "zod/mini";
import { webhookAsJson, webhookWithSecret } from "../../lib/webhooks/as-json.ts";
import { butNotOwn } from "../../lib/webhooks/own-address.ts";
import { createWebhook as create } from "../../lib/webhooks/settings.ts";
import { newWebhook } from "../../lib/webhooks/wish.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { urlGuard, vault, webhooks } from "../services/composition.ts";

export const handler = onLambda({
  route: "create-webhook",
  summary: "Registers a webhook. The answer is the only place where its secret is ever shown.",
  input: z.object({ body: newWebhook }),
  output: webhookWithSecret,
  run: async ({ input, workspace, actor, ownAddress, at }) => {
    const needs = { webhooks: webhooks(), vault: vault(), isSafe: butNotOwn(urlGuard(), ownAddress) };
    const { webhook, secret } = await create(needs, workspace.id, input.body, { actor, at });
    return { ...webhookAsJson(webhook, at), secret };
  },
});
