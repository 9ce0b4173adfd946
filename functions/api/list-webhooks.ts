import * as z from "zod/mini";
import { webhook, webhookAsJson } from "../../lib/webhooks/as-json.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { webhooks } from "../services/composition.ts";

export const handler = onLambda({
  route: "list-webhooks",
  summary:
    "All webhooks of the workspace, oldest first, without their secrets; the path of a URL, which can be a secret, is for the scope admin.",
  output: z.array(webhook),
  run: async ({ workspace, token, at }) =>
    (await webhooks().list(workspace.id)).map((webhook) => webhookAsJson(webhook, at, token.scopes)),
});
