import type { Mapping } from "../model/mapping/mapping.ts";
import { accessOf, sortedKeys } from "./changed-mapping.ts";
import { DOCUMENT_VERSION } from "./document.ts";

/** One mapping of a config document (spec 2.7, design section 6). */
interface ExportedMapping {
  readonly object_name: string;
  readonly config: unknown;
}

export interface ConfigDocument {
  readonly version: number;
  readonly mappings: readonly ExportedMapping[];
}

/**
 * The workspace's mappings as a config document, which Heroku Connect's importers read too. The same mappings give the
 * same bytes: entries by object, keys in order.
 */
export function exportConfig(mappings: readonly Mapping[]): ConfigDocument {
  return { version: DOCUMENT_VERSION, mappings: mappings.map(exportMapping) };
}

function exportMapping(mapping: Mapping): ExportedMapping {
  const config = {
    ...mapping.foreign,
    access: accessOf(mapping.syncDirection),
    sf_notify_enabled: mapping.notifyEnabled,
    sf_polling_seconds: mapping.pollingSeconds,
    fields: Object.fromEntries(mapping.fields.map((field) => [field, {}])),
    ...(mapping.upsertField === null ? {} : { upsert_field: mapping.upsertField }),
    bridge: {
      active: mapping.active,
      batch_size: mapping.batchSize,
      capture: mapping.capture,
      conflict_policy: mapping.conflictPolicy,
      delete_limit: mapping.deleteLimit,
      filter: mapping.filter,
      pg_table: mapping.pgTable,
      sweep_days: mapping.sweepDays,
      sync_direction: mapping.syncDirection,
    },
  };
  return { object_name: mapping.sfObject, config: sortedKeys(config) };
}
