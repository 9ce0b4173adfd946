/** What the service announces (spec 6.1). */
export const EVENT_TYPES = [
  "sync.broken",
  "sync.recovered",
  "sync.failure_spike",
  "mapping.activated",
  "mapping.deactivated",
  "record.failed",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** One thing announced (spec 6.2); `detail` is the envelope's `data`, as design section 6 lists it per type. */
export interface Event {
  readonly id: string;
  readonly workspaceId: string;
  readonly event: EventType;
  readonly occurredAt: Date;
  readonly detail: Readonly<Record<string, unknown>>;
}
