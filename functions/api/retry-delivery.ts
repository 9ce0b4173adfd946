import { retryResult } from "../../lib/http/contract.ts";
import { findDelivery, retryDelivery as retry } from "../../lib/webhooks/ask-for.ts";
import { findWebhook } from "../../lib/webhooks/settings.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { deliveries, wakeUps, webhooks } from "../services/composition.ts";

export const handler = onLambda({
  route: "retry-delivery",
  summary: "Queues a new attempt at once, for any delivery, even a successful one.",
  output: retryResult,
  find: async ({ path, workspace }) => {
    const webhook = await findWebhook(webhooks(), workspace.id, path.webhook_id);
    return { webhook, delivery: await findDelivery(deliveries(), webhook, path.delivery_id) };
  },
  run: async ({ resource: { webhook, delivery }, actor, at }) => {
    await retry({ deliveries: deliveries(), wakeUps: wakeUps() }, webhook, delivery, { actor, at });
    return { queued: true, delivery_id: delivery.id };
  },
});
