import * as z from "zod/mini";
import { Paged } from "../../lib/http/answer.ts";
import { delivery } from "../../lib/http/contract.ts";
import { filterText, page } from "../../lib/http/input.ts";
import { findWebhook } from "../../lib/webhooks/settings.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { deliveries, webhooks } from "../services/composition.ts";

export const handler = onLambda({
  route: "list-deliveries",
  onlyReads: true,
  summary: "The webhook's deliveries of the last thirty days, newest first.",
  input: z.object({ ...page(), before_id: z.optional(filterText()) }),
  output: delivery,
  find: ({ path, workspace }) => findWebhook(webhooks(), workspace.id, path.webhook_id),
  run: async ({ input, resource }) => {
    const { limit, offset, before_id: beforeId } = input;
    return new Paged(await deliveries().page(resource.id, { limit, offset, beforeId }), input);
  },
});
