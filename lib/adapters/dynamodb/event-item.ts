import type { Event } from "../../model/delivery/event.ts";
import type { Database } from "./client/client.ts";
import type { Write } from "./client/transact.ts";

/** An event that was not dispatched after this many days is given up. */
const EVENT_DAYS = 30;

/** The write that makes an event wait for its dispatch, for the transaction of the change that it announces. */
export function putEvent(database: Database, event: Event): Write {
  return { Put: { TableName: database.table("events"), Item: eventItem(event) } };
}

/** A waiting event. Its `data` is kept as text, so that it leaves with its fields in the order in which they came. */
export function eventItem(event: Event): Record<string, unknown> {
  return {
    pk: event.workspaceId,
    sk: event.id,
    event: event.event,
    occurred_at: event.occurredAt.toISOString(),
    detail: JSON.stringify(event.detail),
    expires_at: Math.floor(event.occurredAt.getTime() / 1000) + EVENT_DAYS * 86_400,
  };
}
