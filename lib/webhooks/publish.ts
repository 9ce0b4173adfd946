import type { EventQueue, EventRows, Events } from "./ports.ts";

interface Needs {
  readonly rows: Pick<EventRows, "add">;
  readonly queue: EventQueue;
}

/** Where events begin: the row first, which is the truth, then the wake-up. */
export function publisher({ rows, queue }: Needs): Events {
  const wake: Events["wake"] = (events) =>
    queue.send(events.map(({ workspaceId, id }) => ({ workspaceId, eventId: id })));
  return {
    wake,
    publish: async (events) => {
      await rows.add(events);
      await wake(events);
    },
  };
}
