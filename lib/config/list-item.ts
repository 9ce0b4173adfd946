import type { Mapping } from "../model/mapping.ts";

/** A mapping as the list shows it (spec 2.2). */
export function listItem(mapping: Mapping) {
  return {
    id: mapping.id,
    sf_object: mapping.sfObject,
    pg_table: mapping.pgTable,
    sync_direction: mapping.syncDirection,
    active: mapping.active,
    field_count: mapping.fields.length,
    created_at: mapping.createdAt.toISOString(),
  };
}
