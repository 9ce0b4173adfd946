import { EventRefused, type Events } from "../../webhooks/ports.ts";
import type { CycleStore, Log } from "../ports/cycle-ports.ts";
import { type OutboxEvent, WriteUndone } from "../ports/lease-ports.ts";

/** Events that leave the outbox at a time. */
const OUTBOX_PAGE = 100;

/** The outbox names its events by UUIDs. */
const eventId = (uuid: string) => `evt_${uuid.replaceAll("-", "")}`;

interface Needs {
  readonly announcements: Pick<Events, "publish">;
  readonly log: Log;
}

type Outbox = Pick<CycleStore, "outbox" | "forget" | "setAside">;

/**
 * Publishes the events that were committed with their rows, and only then deletes them. An event that can never be
 * published is set aside and reported; any other error leaves all as they are for the next cycle. Where they cannot be
 * deleted none is published, and that is reported.
 */
export async function emptyOutbox(needs: Needs, workspaceId: string, store: Outbox): Promise<void> {
  try {
    await publishAll(needs, workspaceId, store);
  } catch (error) {
    if (!(error instanceof WriteUndone)) throw error;
    needs.log({ level: "error", event: "events wait", workspace_id: workspaceId, message: error.message });
  }
}

async function publishAll(needs: Needs, workspaceId: string, store: Outbox): Promise<void> {
  const publish = async (events: readonly OutboxEvent[]) => {
    await needs.announcements.publish(events.map((event) => ({ ...event, id: eventId(event.id), workspaceId })));
    await store.forget(events.map(({ id }) => id));
  };
  const published = new Set<string>();
  for (;;) {
    const waiting = await store.outbox(OUTBOX_PAGE);
    if (waiting.length === 0) return;
    if (waiting.some(({ id }) => published.has(id))) throw new WriteUndone("_bridge_outbox");
    for (const { id } of waiting) published.add(id);
    const refusal = await refusalOf(() => publish(waiting));
    if (refusal === null) continue;
    for (const event of waiting) {
      const reason = await refusalOf(() => publish([event]));
      if (reason !== null) await setAside(needs, workspaceId, store, event, reason);
    }
  }
}

/** Null: it was done. */
async function refusalOf(work: () => Promise<void>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (!(error instanceof EventRefused)) throw error;
    return error.message;
  }
}

async function setAside({ log }: Needs, workspaceId: string, store: Outbox, event: OutboxEvent, reason: string) {
  await store.setAside(event.id, reason);
  log({
    level: "error",
    event: "event set aside",
    workspace_id: workspaceId,
    event_id: eventId(event.id),
    event_type: event.event,
    reason,
    remedy: "no webhook receives it; read it in _bridge_outbox_aside, then delete it there (bridge doctor)",
  });
}
