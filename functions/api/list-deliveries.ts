import * as z from "zod/mini";
import { Paged } from "../../lib/http/answer.ts";
import { delivery } from "../../lib/http/contract.ts";
import { filterText, flag, oneOf, page } from "../../lib/http/input.ts";
import { DELIVERY_STATUSES, subjectOf } from "../../lib/model/delivery/delivery.ts";
import { EVENT_TYPES } from "../../lib/model/delivery/event.ts";
import { findWebhook } from "../../lib/webhooks/settings.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { deliveries, webhooks } from "../services/composition.ts";

export const handler = onLambda({
  route: "list-deliveries",
  onlyReads: true,
  summary:
    "The webhook's deliveries of the last thirty days, newest first; ?subjects=true adds the mapping and the row that each is about.",
  input: z.object({
    ...page(),
    before_id: z.optional(filterText()),
    status: z.optional(oneOf(DELIVERY_STATUSES)),
    event: z.optional(oneOf(EVENT_TYPES)),
    subjects: flag(),
  }),
  output: delivery,
  find: ({ path, workspace }) => findWebhook(webhooks(), workspace.id, path.webhook_id),
  run: async ({ input, resource }) => {
    const { before_id: beforeId, subjects, ...asked } = input;
    const { rows, total } = await deliveries().page(resource.id, { ...asked, beforeId });
    if (!subjects) return new Paged({ rows, total }, input);
    const read = await deliveries().read(rows.map(({ id }) => id));
    const byId = new Map(read.map((one) => [one.id, subjectOf(one)]));
    return new Paged({ rows: rows.map((row) => ({ ...row, subject: byId.get(row.id) })), total }, input);
  },
});
