import * as z from "zod/mini";
import { versionOf } from "../config/version.ts";
import {
  CAPTURE_MODES,
  CHECKS_BEFORE_SAVE,
  CONFLICT_POLICIES,
  failureOfProvisioning,
  type Mapping,
  migrationOf,
  SYNC_DIRECTIONS,
} from "../model/mapping/mapping.ts";
import { toSnakeCase } from "../model/snake-case.ts";
import { nullableTimestamp, timestamp } from "./shapes.ts";

/**
 * What a mapping does now, in one word. `unknown`: its database cannot be asked. `sparing_calls`: it runs, and some of
 * its work waits because the org's API calls run low; the reason says what and until when. `deletes_held`: it runs, but
 * for deletes beyond its limit, which wait until an operator confirms or rejects them. `migration_pending`: the
 * application changes its tables itself (`schema_changes: propose`), and its table lacks what the reason names.
 */
export const MAPPING_STATES = [
  "provisioning",
  "provisioning_failed",
  "migration_pending",
  "loading",
  "running",
  "sparing_calls",
  "deletes_held",
  "broken",
  "paused",
  "deleted",
  "unknown",
] as const;
export type MappingState = (typeof MAPPING_STATES)[number];

/** A mapping's settings as the settings area shows them. */
export const mappingView = z.object({
  id: z.string(),
  sf_object: z.string(),
  pg_table: z.string(),
  sync_direction: z.enum(SYNC_DIRECTIONS),
  active: z.boolean(),
  fields: z.array(z.string()),
  upsert_field: z.nullable(z.string()),
  sf_polling_seconds: z.int(),
  when_quiet_seconds: z.nullable(z.int()),
  sf_notify_enabled: z.boolean(),
  conflict_policy: z.enum(CONFLICT_POLICIES),
  capture: z.enum(CAPTURE_MODES),
  delete_limit: z.string(),
  sweep_days: z.int(),
  keep_history: z.boolean(),
  check_before_save: z.enum(CHECKS_BEFORE_SAVE),
  batch_size: z.int(),
  filter: z.nullable(z.string()),
  version: z.string(),
  created_at: timestamp(),
  updated_at: timestamp(),
  deleted_at: nullableTimestamp(),
  state: z.enum(MAPPING_STATES),
  reason: z.nullable(z.string()),
  calls_per_day: z.int(),
});

/**
 * The same, from what is kept and its part of the workspace's forecast. Without the engine's word an active mapping that
 * is provisioned counts as running.
 */
export const viewMapping = (mapping: Mapping, callsPerDay: number): z.infer<typeof mappingView> =>
  toSnakeCase(mappingView, {
    ...mapping,
    sfPollingSeconds: mapping.pollingSeconds,
    sfNotifyEnabled: mapping.notifyEnabled,
    version: versionOf(mapping),
    state: configuredState(mapping),
    reason: failureOfProvisioning(mapping.provisioning),
    callsPerDay,
  });

/** What the configuration alone says. */
export function configuredState({ deletedAt, provisioning, active, configVersion }: Mapping): MappingState {
  if (deletedAt !== null) return "deleted";
  if (provisioning.state === "pending" && migrationOf(provisioning) !== null) return "migration_pending";
  if (failureOfProvisioning(provisioning) !== null) return "provisioning_failed";
  if (!active) return "paused";
  const isReady = provisioning.state === "ready" && provisioning.version === configVersion;
  return isReady ? "running" : "provisioning";
}
