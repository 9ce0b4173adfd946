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
  services: () => ({ webhooks: webhooks(), isSafe: urlGuard() }),
  find: ({ path, workspace, services }) => findWebhook(services.webhooks, workspace.id, path.webhook_id),
  run: async ({ input, resource, services, actor, ownAddress, at }) =>
    webhookAsJson(
      await change({ ...services, isSafe: butNotOwn(services.isSafe, ownAddress) }, resource, input.body, {
        actor,
        at,
      }),
      at,
    ),
});
