import { createHash } from "node:crypto";
import { base62 } from "../model/id.ts";

/**
 * The id of the event of one edge, the same each time that edge is published: `eventIdOf("mapping.activated",
 * mapping.id, mapping.configVersion)`. An event that is published only once gets `newId("evt")`; in PostgreSQL, `'evt_'
 * || replace(gen_random_uuid()::text, '-', '')`.
 */
export function eventIdOf(...edge: readonly (string | number)[]): string {
  return `evt_${digest(edge)}`;
}

/** The id of an event's delivery to a webhook: one pair, one delivery. */
export function deliveryIdOf(eventId: string, webhookId: string): string {
  return `dlv_${digest([eventId, webhookId])}`;
}

function digest(parts: readonly (string | number)[]): string {
  return base62(createHash("sha256").update(JSON.stringify(parts)).digest().subarray(0, 16), 22);
}
