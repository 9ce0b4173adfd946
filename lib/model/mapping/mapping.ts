import type { DeleteLimit } from "./delete-breaker.ts";
import type { Migration } from "./migration.ts";

/** Which way rows travel (contract 2.16). */
export const SYNC_DIRECTIONS = ["bidirectional", "sf_to_pg", "pg_to_sf"] as const;
export type SyncDirection = (typeof SYNC_DIRECTIONS)[number];

/** Who wins when one field of one record changed on both sides. */
export const CONFLICT_POLICIES = ["salesforce_wins", "postgres_wins", "latest_wins"] as const;
export type ConflictPolicy = (typeof CONFLICT_POLICIES)[number];

/**
 * Whether a write of a session that asks for no triggers (`session_replication_role = replica`, as a restore does) is
 * captured: `origin` leaves it alone, `always` captures it.
 */
export const CAPTURE_MODES = ["origin", "always"] as const;
export type CaptureMode = (typeof CAPTURE_MODES)[number];

/** Whether a push looks at records before it saves them; `auto`: unless PostgreSQL wins. */
export const CHECKS_BEFORE_SAVE = ["auto", "on", "off"] as const;

/** One Salesforce object tied to one table. */
export interface Mapping {
  readonly id: string;
  readonly workspaceId: string;
  /** API name as the org's describe spells it, `Contact`. */
  readonly sfObject: string;
  /** Bare table name in the workspace's schema, lower case, `contact`. */
  readonly pgTable: string;
  readonly syncDirection: SyncDirection;
  readonly active: boolean;
  /** API names of the mapped fields, sorted; `Id`, `SystemModstamp` and `IsDeleted` are always synced and may be listed. */
  readonly fields: readonly string[];
  /** API name of the field that identifies a record when writing; null when none is set. */
  readonly upsertField: string | null;
  /** Seconds between pulls, 10 to 86,400. */
  readonly pollingSeconds: number;
  /** Seconds between pulls while nothing changes, 10 to 86,400; null: what its workspace says. */
  readonly whenQuietSeconds: number | null;
  readonly notifyEnabled: boolean;
  readonly conflictPolicy: ConflictPolicy;
  readonly capture: CaptureMode;
  readonly deleteLimit: DeleteLimit;
  /** Both sides are compared whole each so many days, 1 to 30. */
  readonly sweepDays: number;
  /** What Salesforce changes in rows is kept for the stories of the rows. */
  readonly keepHistory: boolean;
  readonly checkBeforeSave: (typeof CHECKS_BEFORE_SAVE)[number];
  /** Records that one call saves at most, 1 to 200. */
  readonly batchSize: number;
  /** A SOQL condition in the filter grammar; null: every record. */
  readonly filter: string | null;
  /** Keys of an imported `config` that have no meaning here, kept for the next export. */
  readonly foreign: Readonly<Record<string, unknown>>;
  /** Rises with every change; tables and triggers belong to one version, and a cycle works for one version only. */
  readonly configVersion: number;
  /** How far the tables and triggers of `configVersion` are. */
  readonly provisioning: Provisioning;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** When it was deleted; its table and rows stay. */
  readonly deletedAt: Date | null;
}

export type Provisioning =
  /** With a reason: the last try failed, and the next one comes automatically. With a migration: it waits for that. */
  | { readonly state: "pending"; readonly reason?: string | undefined; readonly migration?: Migration | undefined }
  /** With a migration: columns are narrower than their fields, and the application is to widen them. */
  | { readonly state: "ready"; readonly version: number; readonly migration?: Migration | undefined }
  | { readonly state: "failed"; readonly version: number; readonly reason: string };

/** Why the tables and triggers could not be created, by the last try; null: it succeeded, or none has ended. */
export const failureOfProvisioning = (provisioning: Provisioning): string | null =>
  provisioning.state === "ready" ? null : (provisioning.reason ?? null);

/** What the application's own migration is to change; null: nothing, or Bridge changes tables itself. */
export const migrationOf = (provisioning: Provisioning): Migration | null =>
  provisioning.state === "failed" ? null : (provisioning.migration ?? null);

/** Whether rows change Salesforce. */
export const pushes = (direction: SyncDirection): boolean => direction !== "sf_to_pg";

/** Whether records change rows. */
export const pulls = (direction: SyncDirection): boolean => direction !== "pg_to_sf";
