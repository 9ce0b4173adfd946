import type { EventMessage, Queue } from "../model/messages.ts";
import type { EventRows, Events } from "./ports.ts";

interface Needs {
  readonly rows: Pick<EventRows, "add">;
  readonly queue: Queue<EventMessage>;
}

/** Where events begin: the row first, which is the truth, then the wake-up. */
export function publisher({ rows, queue }: Needs): Events {
  const wake: Events["wake"] = (events) =>
    queue.send(events.map(({ workspaceId, id }) => ({ message: { workspace_id: workspaceId, event_id: id } })));
  return {
    wake,
    publish: async (events) => {
      await rows.add(events);
      await wake(events);
    },
  };
}
