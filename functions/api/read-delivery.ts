import { deliveryHistory } from "../../lib/http/contract.ts";
import { historyAsJson } from "../../lib/webhooks/as-json.ts";
import { findDelivery } from "../../lib/webhooks/ask-for.ts";
import { findWebhook } from "../../lib/webhooks/settings.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { deliveries, webhooks } from "../services/composition.ts";

export const handler = onLambda({
  route: "read-delivery",
  summary: "One delivery with every attempt and what the receiver answered.",
  output: deliveryHistory,
  find: async ({ path, workspace }) =>
    findDelivery(deliveries(), await findWebhook(webhooks(), workspace.id, path.webhook_id), path.delivery_id),
  run: async ({ resource }) => historyAsJson(resource, await deliveries().history(resource)),
});
