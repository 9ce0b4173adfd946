import * as z from "zod/mini";
import { CAPTURE_MODES, CONFLICT_POLICIES, type Mapping, SYNC_DIRECTIONS } from "../../model/mapping.ts";

const provisioning = z.discriminatedUnion("state", [
  z.object({ state: z.literal("pending"), reason: z.optional(z.string()) }),
  z.object({ state: z.literal("ready"), version: z.number() }),
  z.object({ state: z.literal("failed"), version: z.number(), reason: z.string() }),
]);

/** What conditions and filters look at stands beside the rest, which is one text: fields can be eight hundred. */
const item = z.object({
  pk: z.string(),
  active: z.boolean(),
  config_version: z.number(),
  provisioning,
  deleted_at: z.nullable(z.string()),
  mapping: z.string(),
});

const content = z.object({
  id: z.string(),
  sf_object: z.string(),
  pg_table: z.string(),
  sync_direction: z.enum(SYNC_DIRECTIONS),
  fields: z.array(z.string()),
  upsert_field: z.nullable(z.string()),
  polling_seconds: z.number(),
  notify_enabled: z.boolean(),
  conflict_policy: z.enum(CONFLICT_POLICIES),
  capture: z._default(z.enum(CAPTURE_MODES), "origin"),
  filter: z.nullable(z.string()),
  foreign: z.record(z.string(), z.unknown()),
  created_at: z.string(),
  updated_at: z.string(),
});

/** Sort key of a mapping's item. */
export const mappingKey = (mappingId: string): string => `mapping#${mappingId}`;

/** A mapping as it is kept. */
export function writeMapping(mapping: Mapping): z.infer<typeof item> & { readonly sk: string } {
  const text: z.infer<typeof content> = {
    id: mapping.id,
    sf_object: mapping.sfObject,
    pg_table: mapping.pgTable,
    sync_direction: mapping.syncDirection,
    fields: [...mapping.fields],
    upsert_field: mapping.upsertField,
    polling_seconds: mapping.pollingSeconds,
    notify_enabled: mapping.notifyEnabled,
    conflict_policy: mapping.conflictPolicy,
    capture: mapping.capture,
    filter: mapping.filter,
    foreign: { ...mapping.foreign },
    created_at: mapping.createdAt.toISOString(),
    updated_at: mapping.updatedAt.toISOString(),
  };
  return {
    pk: mapping.workspaceId,
    sk: mappingKey(mapping.id),
    active: mapping.active,
    config_version: mapping.configVersion,
    provisioning: mapping.provisioning,
    deleted_at: mapping.deletedAt?.toISOString() ?? null,
    mapping: JSON.stringify(text),
  };
}

/** And back. */
export function readMapping(stored: unknown): Mapping {
  const kept = item.parse(stored);
  const text = content.parse(JSON.parse(kept.mapping));
  return {
    id: text.id,
    workspaceId: kept.pk,
    sfObject: text.sf_object,
    pgTable: text.pg_table,
    syncDirection: text.sync_direction,
    active: kept.active,
    fields: text.fields,
    upsertField: text.upsert_field,
    pollingSeconds: text.polling_seconds,
    notifyEnabled: text.notify_enabled,
    conflictPolicy: text.conflict_policy,
    capture: text.capture,
    filter: text.filter,
    foreign: text.foreign,
    configVersion: kept.config_version,
    provisioning: kept.provisioning,
    createdAt: new Date(text.created_at),
    updatedAt: new Date(text.updated_at),
    deletedAt: kept.deleted_at === null ? null : new Date(kept.deleted_at),
  };
}
