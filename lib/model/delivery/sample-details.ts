import type { EventDetails, EventType } from "./event.ts";

/** A `data` of each event type, as tests send it and the API's description shows it. */
export function sampleDetails(actor: string, at: Date): { readonly [T in EventType]: EventDetails[T] } {
  const mapping = { mapping_id: "map_test", sf_object: "Contact" };
  const since = new Date(at.getTime() - 60_000).toISOString();
  return {
    "sync.broken": { ...mapping, reason: "salesforce_unavailable", message: "this is a test", since, failed_cycles: 3 },
    "sync.recovered": { ...mapping, broken_since: since, duration_seconds: 60 },
    "sync.failure_spike": { failed_count: 10, ...mapping },
    "mapping.activated": { ...mapping, pg_table: "contact", actor },
    "mapping.deactivated": { ...mapping, pg_table: "contact", actor },
    "record.failed": {
      trigger_log_id: 1,
      ...mapping,
      table_name: "contact",
      record_id: 1,
      sfid: null,
      action: "INSERT",
      error: "REQUIRED_FIELD_MISSING: this is a test [LastName]",
    },
    "deletes.held": {
      ...mapping,
      pg_table: "contact",
      phase: "began",
      deletes: 939,
      since,
      message: "939 deletes are held: this is a test",
    },
  };
}
