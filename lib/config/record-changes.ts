import { type Event, type EventDetails, eventOf } from "../model/delivery/event.ts";
import type { Mapping } from "../model/mapping/mapping.ts";
import { type AuditAction, type AuditEntry, type Doing, mappingEntry } from "../model/workspace/audit.ts";
import { changedSettings } from "./changed-mapping.ts";
import type { MappingChange, RecordedChanges } from "./ports.ts";

type Who = Pick<Doing, "actor" | "at">;

/** Changes with their audit entries and the events that announce them. */
export function recordChanges(changes: readonly MappingChange[], who: Who, idOf: EventIdOf): RecordedChanges {
  return {
    changes,
    audit: changes.flatMap((change) => entriesOf(change, who)),
    events: changes.flatMap((change) => eventsOf(change, who, idOf)),
  };
}

/** Names the event of an edge, the same each time (the webhooks room's `eventIdOf`). */
export type EventIdOf = (...edge: readonly (string | number)[]) => string;

function entriesOf({ before, after }: MappingChange, who: Who): readonly AuditEntry[] {
  const entry = (action: AuditAction, more?: AuditEntry["detail"]) => mappingEntry(who, action, after, more);
  if (before === null) return [entry("mapping.created")];
  if (before.deletedAt === null && after.deletedAt !== null) return [entry("mapping.deleted")];
  if (before.deletedAt !== null && after.deletedAt === null) return [entry("mapping.restored")];
  const settings = changedSettings(before, after).filter((name) => name !== "active");
  return [
    ...(settings.length > 0 ? [entry("mapping.updated", { changed: settings })] : []),
    ...(before.active === after.active ? [] : [entry(after.active ? "mapping.activated" : "mapping.deactivated")]),
  ];
}

function eventsOf({ before, after }: MappingChange, { actor, at }: Who, idOf: EventIdOf): readonly Event[] {
  if ((before?.active ?? false) === after.active) return [];
  const event = after.active ? "mapping.activated" : "mapping.deactivated";
  const id = idOf(event, after.id, after.configVersion);
  return [eventOf(event, { id, workspaceId: after.workspaceId, occurredAt: at, detail: switched(after, actor) })];
}

function switched({ id, sfObject, pgTable }: Mapping, actor: string): EventDetails["mapping.activated"] {
  return { mapping_id: id, sf_object: sfObject, pg_table: pgTable, actor };
}
