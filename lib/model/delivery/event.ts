import type { FailureReason } from "../engine.ts";
import type { HOLDING_PHASES } from "../mapping/delete-breaker.ts";

/** What the service announces (contract 6.1). */
export const EVENT_TYPES = [
  "sync.broken",
  "sync.recovered",
  "sync.failure_spike",
  "mapping.activated",
  "mapping.deactivated",
  "record.failed",
  // Beyond the contract's: sent only to webhooks that ask for it.
  "deletes.held",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** One thing announced (contract 6.2); `detail` is the envelope's `data`. The same id is the same announcement, however often it is published. */
export interface Event {
  readonly id: string;
  readonly workspaceId: string;
  readonly event: EventType;
  readonly occurredAt: Date;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** An event's `data`, by type, as it crosses the wire (contract 6.2). */
export interface EventDetails {
  "sync.broken": {
    readonly mapping_id: string;
    readonly sf_object: string;
    readonly reason: FailureReason;
    readonly message: string;
    /** ISO 8601. */
    readonly since: string;
    readonly failed_cycles: number;
  };
  "sync.recovered": {
    readonly mapping_id: string;
    readonly sf_object: string;
    /** ISO 8601. */
    readonly broken_since: string;
    readonly duration_seconds: number;
  };
  "sync.failure_spike": { readonly failed_count: number; readonly mapping_id: string; readonly sf_object: string };
  "mapping.activated": MappingSwitched;
  "mapping.deactivated": MappingSwitched;
  "record.failed": {
    readonly trigger_log_id: number;
    readonly mapping_id: string;
    readonly sf_object: string;
    readonly table_name: string;
    readonly record_id: number;
    readonly sfid: string | null;
    readonly action: string;
    readonly error: string;
  };
  "deletes.held": {
    readonly mapping_id: string;
    readonly sf_object: string;
    readonly pg_table: string;
    readonly phase: (typeof HOLDING_PHASES)[number];
    /** How many are held, on both sides. */
    readonly deletes: number;
    /** ISO 8601. */
    readonly since: string;
    readonly message: string;
  };
}

interface MappingSwitched {
  readonly mapping_id: string;
  readonly sf_object: string;
  readonly pg_table: string;
  /** E-mail address, or `system`. */
  readonly actor: string;
}

/** An event whose `data` has its type's fields. */
export function eventOf<T extends EventType>(
  event: T,
  made: {
    readonly id: string;
    readonly workspaceId: string;
    readonly occurredAt: Date;
    readonly detail: EventDetails[T];
  },
): Event {
  return { ...made, event, detail: { ...made.detail } };
}

/** The request body of every delivery of this event, byte for byte (contract 6.2). */
export function envelopeOf({ id, event, workspaceId, occurredAt, detail }: Event): string {
  return JSON.stringify({ id, event, workspace_id: workspaceId, occurred_at: occurredAt.toISOString(), data: detail });
}
