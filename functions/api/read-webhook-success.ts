import * as z from "zod/mini";
import { minutesBack } from "../../lib/http/input.ts";
import { lastMinutes, MAX_MINUTES } from "../../lib/model/span.ts";
import { findWebhook } from "../../lib/webhooks/settings.ts";
import { successOver, successView } from "../../lib/webhooks/success.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { deliveries, webhooks } from "../services/composition.ts";

export const handler = onLambda({
  route: "read-webhook-success",
  summary: "The results of a webhook's deliveries over the last minutes (60, at most a week), step by step.",
  input: z.object({ minutes: minutesBack(MAX_MINUTES) }),
  output: successView,
  services: () => ({ webhooks: webhooks(), deliveries: deliveries() }),
  find: ({ path, workspace, services }) => findWebhook(services.webhooks, workspace.id, path.webhook_id),
  run: ({ input, resource, services, at }) =>
    successOver(services.deliveries, resource.id, lastMinutes(input.minutes, at)),
});
