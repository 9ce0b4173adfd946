import * as z from "zod/mini";
import { endpoint } from "../../lib/http/endpoint.ts";
import { webhook, webhookAsJson } from "../../lib/webhooks/as-json.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { webhooks } from "../services/composition.ts";

/** All webhooks of the workspace, oldest first, without their secrets. */
const listWebhooks = endpoint({
  route: "list-webhooks",
  summary: "All webhooks of the workspace, oldest first, without their secrets.",
  output: z.array(webhook),
  services: () => ({ webhooks: webhooks() }),
  run: async ({ workspace, services, at }) =>
    (await services.webhooks.list(workspace.id)).map((webhook) => webhookAsJson(webhook, at)),
});

export const handler = onLambda(listWebhooks);
