import * as z from "zod/mini";
import { dispatch } from "../../lib/webhooks/dispatch.ts";
import { each, onQueue } from "../invocation/on-queue.ts";
import { deliveries, eventRows, now, wakeUps, webhooks } from "../services/composition.ts";

const eventMessage = z.pipe(
  z.object({ workspace_id: z.string(), event_id: z.string() }),
  z.transform(({ workspace_id, event_id }) => ({ workspaceId: workspace_id, eventId: event_id })),
);

/** Turns waiting events into deliveries: all of a batch at once, or one by one where one of them is in the way. */
export const handler = onQueue(eventMessage, async (keys) => {
  const needs = { events: eventRows(), webhooks: webhooks(), deliveries: deliveries(), wakeUps: wakeUps(), now };
  try {
    await dispatch(needs, keys);
    return [];
  } catch {
    return each((key: (typeof keys)[number]) => dispatch(needs, [key]))(keys);
  }
});
