import { deliveryHistory } from "../../lib/http/contract.ts";
import { toSnakeCase } from "../../lib/model/snake-case.ts";
import { withHistory } from "../../lib/webhooks/as-json.ts";
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
  run: async ({ resource }) =>
    toSnakeCase(deliveryHistory, withHistory(resource, await deliveries().history(resource))),
});
