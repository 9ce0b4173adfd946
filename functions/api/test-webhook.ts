import * as z from "zod/mini";
import { oneOf } from "../../lib/http/input.ts";
import { EVENT_TYPES } from "../../lib/model/delivery/event.ts";
import { testWebhook as send } from "../../lib/webhooks/ask-for.ts";
import { findWebhook } from "../../lib/webhooks/settings.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { deliveries, wakeUps, webhooks } from "../services/composition.ts";

export const handler = onLambda({
  route: "test-webhook",
  summary: "Sends the webhook an event that never happened, of the type event or the first that it receives.",
  input: z.object({ event: z.optional(oneOf(EVENT_TYPES)) }),
  output: z.object({ queued: z.boolean(), delivery_id: z.string(), event_id: z.string() }),
  find: ({ path, workspace }) => findWebhook(webhooks(), workspace.id, path.webhook_id),
  run: async ({ input, resource, actor, at }) => {
    const type = input.event ?? resource.events[0] ?? EVENT_TYPES[0];
    const delivery = await send({ deliveries: deliveries(), wakeUps: wakeUps() }, resource, type, { actor, at });
    return { queued: true, delivery_id: delivery.id, event_id: delivery.eventId };
  },
});
