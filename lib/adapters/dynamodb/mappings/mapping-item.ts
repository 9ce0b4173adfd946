import * as z from "zod/mini";
import { BATCH_SIZE } from "../../../model/change/ways.ts";
import { AUTO } from "../../../model/mapping/delete-breaker.ts";
import {
  CAPTURE_MODES,
  CHECKS_BEFORE_SAVE,
  CONFLICT_POLICIES,
  type Mapping,
  SYNC_DIRECTIONS,
} from "../../../model/mapping/mapping.ts";
import { toCamelCase, toSnakeCase } from "../../../model/snake-case.ts";
import { storedTime } from "../client/stored-time.ts";

const columns = z.readonly(z.array(z.object({ column: z.string(), type: z.string() })));

const migration = z.object({
  schema: z.string(),
  table: z.string(),
  create: z.boolean(),
  columns,
  wider: columns,
  indexes: z.readonly(z.array(z.object({ name: z.string(), column: z.string(), unique: z.boolean() }))),
});

const provisioning = z.discriminatedUnion("state", [
  z.object({ state: z.literal("pending"), reason: z.optional(z.string()), migration: z.optional(migration) }),
  z.object({ state: z.literal("ready"), version: z.number(), migration: z.optional(migration) }),
  z.object({ state: z.literal("failed"), version: z.number(), reason: z.string() }),
]);

/** What conditions and filters read is beside the rest, which is one text: fields can be eight hundred. */
const item = z.object({
  pk: z.string(),
  active: z.boolean(),
  config_version: z.number(),
  provisioning,
  deleted_at: z.nullable(storedTime),
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
  when_quiet_seconds: z._default(z.nullable(z.number()), null),
  notify_enabled: z.boolean(),
  conflict_policy: z.enum(CONFLICT_POLICIES),
  capture: z._default(z.enum(CAPTURE_MODES), "origin"),
  delete_limit: z._default(z.string(), AUTO),
  sweep_days: z._default(z.int(), 1),
  keep_history: z._default(z.boolean(), true),
  check_before_save: z._default(z.enum(CHECKS_BEFORE_SAVE), "auto"),
  batch_size: z._default(z.number(), BATCH_SIZE),
  filter: z.nullable(z.string()),
  foreign: z.record(z.string(), z.unknown()),
  created_at: storedTime,
  updated_at: storedTime,
});

/** Sort key of a mapping's item. */
export const mappingKey = (mappingId: string): string => `mapping#${mappingId}`;

/** A mapping as it is kept. */
export function writeMapping(mapping: Mapping): z.input<typeof item> & { readonly sk: string } {
  const text = JSON.stringify(toSnakeCase(content, mapping));
  return {
    ...toSnakeCase(item, { ...mapping, pk: mapping.workspaceId, mapping: text }),
    sk: mappingKey(mapping.id),
  };
}

/** And back. */
export function readMapping(stored: unknown): Mapping {
  const { pk, mapping, ...kept } = toCamelCase(item, item.parse(stored));
  return { ...toCamelCase(content, content.parse(JSON.parse(mapping))), ...kept, workspaceId: pk };
}
