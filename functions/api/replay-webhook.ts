import * as z from "zod/mini";
import { filterText, instantText } from "../../lib/http/input.ts";
import { replayMissed } from "../../lib/webhooks/replay.ts";
import { findWebhook } from "../../lib/webhooks/settings.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { auditLog, deliveries, wakeUps, webhooks } from "../services/composition.ts";

export const handler = onLambda({
  route: "replay-webhook",
  summary:
    "Queues a new attempt of each delivery from a time on that is tried no more: given up, or due while the webhook was inactive. Looks at 500 deliveries, the newest first; where next is not null, ask again with it as before_id.",
  input: z.object({ since: instantText(), before_id: z.optional(filterText()) }),
  output: z.object({ queued: z.int(), next: z.nullable(z.string()) }),
  find: ({ path, workspace }) => findWebhook(webhooks(), workspace.id, path.webhook_id),
  run: ({ input: { since, before_id: beforeId }, resource, actor, at }) =>
    replayMissed(
      { deliveries: deliveries(), wakeUps: wakeUps(), audit: auditLog() },
      resource,
      { since, beforeId },
      { actor, at },
    ),
});
