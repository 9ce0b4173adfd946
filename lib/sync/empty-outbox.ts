import type { CycleStore } from "./ports.ts";
import type { Announcements } from "./service-ports.ts";

/** Events that leave the outbox at a time. */
const OUTBOX_PAGE = 100;

/** The outbox names its events by UUIDs. */
const eventId = (uuid: string) => `evt_${uuid.replaceAll("-", "")}`;

/** Events that were committed with their rows leave for the service's own store, and only then are they forgotten. */
export async function emptyOutbox(
  { announcements }: { readonly announcements: Pick<Announcements, "publish"> },
  workspaceId: string,
  store: Pick<CycleStore, "outbox" | "forget">,
): Promise<void> {
  for (;;) {
    const waiting = await store.outbox(OUTBOX_PAGE);
    if (waiting.length === 0) return;
    await announcements.publish(waiting.map((event) => ({ ...event, id: eventId(event.id), workspaceId })));
    await store.forget(waiting.map(({ id }) => id));
    if (waiting.length < OUTBOX_PAGE) return;
  }
}
