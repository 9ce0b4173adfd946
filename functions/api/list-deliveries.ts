import * as z from "zod/mini";
import { Paged } from "../../lib/http/answer.ts";
import { delivery } from "../../lib/http/contract.ts";
import { endpoint } from "../../lib/http/endpoint.ts";
import { pageOffset, pageSize } from "../../lib/http/input.ts";
import { findWebhook } from "../../lib/webhooks/settings.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { deliveries, webhooks } from "../services/composition.ts";

/** The webhook's deliveries of the last thirty days, newest first (spec 4, endpoint 13). */
const listDeliveries = endpoint({
  route: "list-deliveries",
  onlyReads: true,
  summary: "The webhook's deliveries of the last thirty days, newest first.",
  input: z.object({ limit: z._default(pageSize(200), 50), offset: pageOffset() }),
  output: delivery,
  services: () => ({ webhooks: webhooks(), deliveries: deliveries() }),
  find: ({ path, workspace, services }) => findWebhook(services.webhooks, workspace.id, path.webhook_id),
  run: async ({ input, resource, services }) => {
    const { rows, total } = await services.deliveries.page(resource.id, input);
    return new Paged(rows, { total, ...input });
  },
});

export const handler = onLambda(listDeliveries);
