import * as z from "zod/mini";
import { CONFLICT_POLICIES, type Mapping, SYNC_DIRECTIONS } from "../../model/mapping.ts";

const provisioning = z.discriminatedUnion("state", [
  z.object({ state: z.literal("pending") }),
  z.object({ state: z.literal("ready"), version: z.number() }),
  z.object({ state: z.literal("failed"), version: z.number(), reason: z.string() }),
]);

const item = z.object({
  pk: z.string(),
  id: z.string(),
  sf_object: z.string(),
  pg_table: z.string(),
  sync_direction: z.enum(SYNC_DIRECTIONS),
  active: z.boolean(),
  fields: z.array(z.string()),
  upsert_field: z.nullable(z.string()),
  polling_seconds: z.number(),
  notify_enabled: z.boolean(),
  conflict_policy: z.enum(CONFLICT_POLICIES),
  filter: z.nullable(z.string()),
  foreign: z.string(),
  config_version: z.number(),
  provisioning,
  created_at: z.string(),
  updated_at: z.string(),
  deleted_at: z.nullable(z.string()),
});

/** Sort key of a mapping's item. */
export const mappingKey = (mappingId: string): string => `mapping#${mappingId}`;

/** A mapping as it is kept. */
export function writeMapping(mapping: Mapping): z.infer<typeof item> & { readonly sk: string } {
  return {
    pk: mapping.workspaceId,
    sk: mappingKey(mapping.id),
    id: mapping.id,
    sf_object: mapping.sfObject,
    pg_table: mapping.pgTable,
    sync_direction: mapping.syncDirection,
    active: mapping.active,
    fields: [...mapping.fields],
    upsert_field: mapping.upsertField,
    polling_seconds: mapping.pollingSeconds,
    notify_enabled: mapping.notifyEnabled,
    conflict_policy: mapping.conflictPolicy,
    filter: mapping.filter,
    foreign: JSON.stringify(mapping.foreign),
    config_version: mapping.configVersion,
    provisioning: mapping.provisioning,
    created_at: mapping.createdAt.toISOString(),
    updated_at: mapping.updatedAt.toISOString(),
    deleted_at: mapping.deletedAt?.toISOString() ?? null,
  };
}

/** And back. */
export function readMapping(stored: unknown): Mapping {
  const kept = item.parse(stored);
  return {
    id: kept.id,
    workspaceId: kept.pk,
    sfObject: kept.sf_object,
    pgTable: kept.pg_table,
    syncDirection: kept.sync_direction,
    active: kept.active,
    fields: kept.fields,
    upsertField: kept.upsert_field,
    pollingSeconds: kept.polling_seconds,
    notifyEnabled: kept.notify_enabled,
    conflictPolicy: kept.conflict_policy,
    filter: kept.filter,
    foreign: JSON.parse(kept.foreign) as Record<string, unknown>,
    configVersion: kept.config_version,
    provisioning: kept.provisioning,
    createdAt: new Date(kept.created_at),
    updatedAt: new Date(kept.updated_at),
    deletedAt: kept.deleted_at === null ? null : new Date(kept.deleted_at),
  };
}
