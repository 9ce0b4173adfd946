import type { Mapping } from "../model/mapping/mapping.ts";
import { accessOf, sortedKeys } from "./changed-mapping.ts";
import { DOCUMENT_VERSION } from "./document.ts";
import { inWords } from "./mapping-rules.ts";

/**
 * The workspace's mappings as a config document, which Heroku Connect's importers read too. The same mappings give the
 * same bytes: entries by object, keys in order.
 */
export function exportConfig(mappings: readonly Mapping[]) {
  return { version: DOCUMENT_VERSION, mappings: mappings.map(exportMapping) };
}

function exportMapping(mapping: Mapping) {
  const { upsert_field, sf_polling_seconds, sf_notify_enabled, ...bridge } = inWords(mapping);
  const config = {
    ...mapping.foreign,
    access: accessOf(mapping.syncDirection),
    sf_notify_enabled,
    sf_polling_seconds,
    fields: Object.fromEntries(mapping.fields.map((field) => [field, {}])),
    ...(upsert_field === null ? {} : { upsert_field }),
    bridge,
  };
  return { object_name: mapping.sfObject, config: sortedKeys(config) };
}
