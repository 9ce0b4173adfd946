import * as z from "zod/mini";
import { versionOf } from "../config/version.ts";
import {
  CAPTURE_MODES,
  CONFLICT_POLICIES,
  failureOfProvisioning,
  type Mapping,
  migrationOf,
  SYNC_DIRECTIONS,
} from "../model/mapping/mapping.ts";
import { toSnakeCase } from "../model/snake-case.ts";
import { idleCallsOf } from "./forecast.ts";
import { nullableTimestamp, timestamp } from "./shapes.ts";

/**
 * What a mapping does now, in one word. `unknown`: its database cannot be asked. `sparing_calls`: it runs, and some of its
 * work waits because the org's API calls run low; the reason says what and until when. `deletes_held`: it runs, but for
 * deletes beyond its limit, which wait for somebody who confirms or rejects them. `migration_pending`: the application
 * changes its tables itself (`schema_changes: propose`), and its table lacks what the reason names.
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
  conflict_policy: z.enum(CONFLICT_POLICIES),
  /** `always`: writes of sessions that ask for no triggers, such as a restore's, are sent to Salesforce, too. */
  capture: z.enum(CAPTURE_MODES),
  /** Deletes an hour on either side that are not held: a number, a share of the table (`25%`), `off` or `auto`. */
  delete_limit: z.string(),
  /** Both sides are compared whole each so many days. */
  sweep_days: z.int(),
  /** Records that one call saves at most, 1 to 200; below 200 the Bulk API saves none. */
  batch_size: z.int(),
  filter: z.nullable(z.string()),
  version: z.string(),
  created_at: timestamp(),
  updated_at: timestamp(),
  deleted_at: nullableTimestamp(),
  state: z.enum(MAPPING_STATES),
  /** Why it is in a state that needs somebody. */
  reason: z.nullable(z.string()),
  /** Its part of the workspace's forecast: API calls a day while nothing changes; 0 while it is paused. */
  calls_per_day: z.int(),
});

/**
 * The same, from what is kept, `all` mappings of its workspace. Without the engine's word an active mapping that is
 * provisioned counts as running.
 */
export const viewMapping = (mapping: Mapping, all: readonly Mapping[]): z.infer<typeof mappingView> =>
  toSnakeCase(mappingView, {
    ...mapping,
    sfPollingSeconds: mapping.pollingSeconds,
    version: versionOf(mapping),
    state: configuredState(mapping),
    reason: failureOfProvisioning(mapping.provisioning),
    callsPerDay: idleCallsOf(mapping, all),
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
