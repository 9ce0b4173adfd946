import * as z from "zod/mini";
import type { Mapping } from "../model/mapping.ts";
import type { Conflict, FailureKind, HeldDelete, InboundError } from "./row-ports.ts";
import { timestamp } from "./shapes.ts";

/** Failed changes of one kind. */
export const failureView = z.object({
  fingerprint: z.string(),
  table_name: z.string(),
  action: z.string(),
  sample: z.string(),
  count: z.int(),
  last_at: timestamp(),
});

/** The same, from what was read. */
export function viewFailure(kind: FailureKind): z.infer<typeof failureView> {
  const { fingerprint, tableName, action, sample, count, lastAt } = kind;
  return { fingerprint, table_name: tableName, action, sample, count, last_at: lastAt.toISOString() };
}

/** What became of a retry. */
export const retriedView = z.object({ retried: z.int(), remaining: z.int() });

/** A record that could not become a row. */
export const inboundErrorView = z.object({
  mapping_id: z.string(),
  sf_object: z.nullable(z.string()),
  sfid: z.string(),
  error: z.string(),
  attempts: z.int(),
  first_at: timestamp(),
  last_at: timestamp(),
});

/** The same, from what was read. */
export function viewInboundError(error: InboundError, mappings: readonly Mapping[]): z.infer<typeof inboundErrorView> {
  return {
    mapping_id: error.mappingId,
    sf_object: objectOf(error.mappingId, mappings),
    sfid: error.sfid,
    error: error.error,
    attempts: error.attempts,
    first_at: error.firstAt.toISOString(),
    last_at: error.lastAt.toISOString(),
  };
}

/** A delete that the breaker holds back. */
export const heldDeleteView = z.object({
  /** What would be deleted: the row, for its record was deleted; or the record, for its row was. */
  deletes: z.enum(["row", "record"]),
  sfid: z.nullable(z.string()),
  record_id: z.nullable(z.int()),
  at: timestamp(),
});

/** The same, from what was read. */
export function viewHeldDelete({ deletes, sfid, recordId, at }: HeldDelete): z.infer<typeof heldDeleteView> {
  return { deletes, sfid, record_id: recordId, at: at.toISOString() };
}

/** A field that changed on both sides, and who won. */
export const conflictView = z.object({
  id: z.int(),
  mapping_id: z.string(),
  sf_object: z.nullable(z.string()),
  sfid: z.string(),
  record_id: z.int(),
  field: z.nullable(z.string()),
  base: z.nullable(z.string()),
  postgres: z.nullable(z.string()),
  salesforce: z.nullable(z.string()),
  winner: z.string(),
  at: timestamp(),
});

/** The same, from what was read. */
export function viewConflict(conflict: Conflict, mappings: readonly Mapping[]): z.infer<typeof conflictView> {
  const { id, mappingId, sfid, recordId, field, base, postgres, salesforce, winner, at } = conflict;
  const record = { sfid, record_id: recordId, field, base, postgres, salesforce, winner, at: at.toISOString() };
  return { id, mapping_id: mappingId, sf_object: objectOf(mappingId, mappings), ...record };
}

/** Null for a mapping that was deleted meanwhile. */
function objectOf(mappingId: string, mappings: readonly Mapping[]): string | null {
  return mappings.find(({ id }) => id === mappingId)?.sfObject ?? null;
}
