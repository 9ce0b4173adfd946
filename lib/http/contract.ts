import * as z from "zod/mini";
import { ACTIONS, STATES } from "../model/change/change.ts";
import { EVENT_TYPES } from "../model/delivery/event.ts";
import { SYNC_DIRECTIONS } from "../model/mapping/mapping.ts";
import { CAUSES } from "../model/workspace/incident.ts";

/** The resources of the contract (contract 2) as schemas: they describe the fifteen endpoints and are kept by tests. */

const timestamp = () => z.iso.datetime();

/** Spec 2.2. */
export const mappingItem = z.object({
  id: z.string(),
  sf_object: z.string(),
  pg_table: z.string(),
  sync_direction: z.enum(SYNC_DIRECTIONS),
  active: z.boolean(),
  field_count: z.int(),
  created_at: timestamp(),
});

const healthStatus = z.enum(["healthy", "degraded", "error", "unknown"]);

/** Spec 2.3. */
export const health = z.object({
  pg: z.object({ status: healthStatus, latency_ms: z.nullable(z.int()) }),
  sf: z.object({ status: healthStatus, org_id: z.nullable(z.string()) }),
  sync: z.object({
    status: z.enum(["running", "paused", "broken", "degraded", "unknown"]),
    last_run_at: z.nullable(timestamp()),
    pending_rows: z.nullable(z.int()),
    /** Only while a person has stopped the workspace or the deployment: who, since when, why, and the remedy. */
    pause: z.optional(z.string()),
    /** Only while the schema is of an older version: from which to which it is upgraded. */
    upgrade: z.optional(z.string()),
  }),
  /** Only where it is asked for: what is wrong, each cause once, with what it concerns and what helps. */
  incidents: z.optional(
    z.array(
      z.object({
        cause: z.enum(CAUSES),
        stops: z.boolean(),
        message: z.string(),
        said: z.nullable(z.string()),
        since: z.nullable(timestamp()),
        objects: z.array(z.string()),
        waiting: z.nullable(z.int()),
        next_try_at: z.nullable(timestamp()),
        remedy: z.string(),
        commands: z.array(z.string()),
      }),
    ),
  ),
});

const logRow = {
  id: z.int(),
  table_name: z.string(),
  sfid: z.nullable(z.string()),
  action: z.enum(ACTIONS),
  state: z.enum(STATES),
  created_at: timestamp(),
};

/** Spec 2.4, as the activity list shows it. */
export const activityRow = z.object({
  ...logRow,
  _ab_lastop: z.nullable(z.string()),
  synced_at: z.nullable(timestamp()),
});

/** Spec 2.4, as the errors list shows it. */
export const errorRow = z.object({ ...logRow, _ab_err: z.string() });

/** A page of the feed of changes. */
export const feed = z.object({
  changes: z.array(z.extend(activityRow, { record_id: z.int() })),
  next: z.string(),
  more: z.boolean(),
  waiting: z.boolean(),
});

/** Spec 2.5. */
export const pollResult = z.object({ triggered: z.boolean(), mapping_id: z.string(), message: z.string() });

/** Spec 2.6. */
export const abortResult = z.looseObject({ aborted: z.boolean() });

/** Spec 2.7, with what Heroku Connect has no word for under `bridge`. Other products' keys are kept. */
export const configDocument = z.object({
  version: z.literal(1),
  mappings: z.array(
    z.object({
      object_name: z.string(),
      config: z.looseObject({
        access: z.optional(z.enum(["read_write", "read_only"])),
        sf_notify_enabled: z.optional(z.boolean()),
        sf_polling_seconds: z.optional(z.int()),
        fields: z.optional(z.record(z.string(), z.looseObject({}))),
        upsert_field: z.optional(z.nullable(z.string())),
        bridge: z.optional(z.looseObject({})),
      }),
    }),
  ),
});

/** Contract 2.8; a dry run shows beside the counts what would change. */
export const importResult = z.object({
  created: z.int(),
  updated: z.int(),
  skipped: z.int(),
  changes: z.optional(
    z.array(
      z.object({
        object_name: z.string(),
        pg_table: z.string(),
        action: z.enum(["create", "update"]),
        fields_added: z.array(z.string()),
        fields_removed: z.array(z.string()),
        settings_changed: z.array(z.string()),
        settings: z.array(
          z.object({ name: z.string(), before: z.nullable(z.string()), after: z.nullable(z.string()) }),
        ),
      }),
    ),
  ),
  warnings: z.optional(z.array(z.object({ path: z.string(), message: z.string() }))),
});

/** Spec 2.9. */
export const baseline = z.object({ baseline_id: z.string(), captured_at: timestamp() });

/** Spec 2.10. */
export const driftReport = z.object({
  baseline_id: z.string(),
  captured_at: timestamp(),
  drifted: z.boolean(),
  changes: z.array(
    z.looseObject({
      mapping_id: z.string(),
      sf_object: z.string(),
      type: z.enum(["mapping_added", "mapping_removed", "field_added", "field_removed", "setting_changed"]),
      /** The field or the setting; empty where a whole mapping came or went. */
      field: z.string(),
    }),
  ),
});

/** Spec 2.11. */
export const auditEntry = z.object({
  id: z.string(),
  actor: z.string(),
  action: z.string(),
  resource_type: z.string(),
  resource_id: z.string(),
  detail: z.looseObject({}),
  created_at: timestamp(),
});

const deliveryShape = {
  id: z.string(),
  event: z.enum(EVENT_TYPES),
  status: z.enum(["pending", "successful", "failed"]),
  response_code: z.nullable(z.int()),
  delivered_at: z.nullable(timestamp()),
  next_retry_at: z.nullable(timestamp()),
};

/** Spec 2.12. */
export const delivery = z.object({
  ...deliveryShape,
  subject: z.optional(
    z.object({
      mapping_id: z.string(),
      sf_object: z.string(),
      table_name: z.nullable(z.string()),
      record_id: z.nullable(z.int()),
    }),
  ),
});

/** Spec 2.13. */
export const retryResult = z.object({ queued: z.boolean(), delivery_id: z.string() });

/** A delivery with its whole history (contract 6.4.4). */
export const deliveryHistory = z.object({
  ...deliveryShape,
  event_id: z.string(),
  created_at: timestamp(),
  stopped_because: z.nullable(z.string()),
  request_body: z.string(),
  attempts: z.array(
    z.object({
      number: z.int(),
      kind: z.string(),
      started_at: timestamp(),
      ended_at: z.nullable(timestamp()),
      duration_ms: z.nullable(z.number()),
      succeeded: z.nullable(z.boolean()),
      response_code: z.nullable(z.int()),
      response_body: z.nullable(z.string()),
      response_body_truncated: z.boolean(),
      reason: z.nullable(z.string()),
    }),
  ),
});
