import { newId } from "../id.ts";
import type { Mapping } from "../mapping/mapping.ts";

/** What can be done to each kind of resource, in the audit log's dotted form `<resource>.<verb>`. */
export const AUDIT_ACTIONS = {
  "mapping.created": "mapping",
  "mapping.updated": "mapping",
  "mapping.activated": "mapping",
  "mapping.deactivated": "mapping",
  "mapping.deleted": "mapping",
  "mapping.restored": "mapping",
  "mapping.reloaded": "mapping",
  "mapping.captured": "mapping",
  "mapping.compared": "mapping",
  "mapping.sweep_requested": "mapping",
  "mapping.dry_run_confirmed": "mapping",
  "mapping.restore_accepted": "mapping",
  "mapping.poll_triggered": "mapping",
  "mapping.poll_aborted": "mapping",
  "rows.retried": "mapping",
  "rows.dismissed": "mapping",
  "rows.pushed": "mapping",
  "rows.written": "mapping",
  "rows.restored": "mapping",
  "records.retried": "mapping",
  "conflicts.overruled": "mapping",
  "deletes.confirmed": "mapping",
  "deletes.rejected": "mapping",
  "config.imported": "config",
  "config.import_lost": "config",
  "config.baseline_saved": "config",
  "token.created": "token",
  "token.revoked": "token",
  "invitation.created": "token",
  "invitation.accepted": "token",
  "webhook.created": "webhook",
  "webhook.updated": "webhook",
  "webhook.deleted": "webhook",
  "webhook.secret_prepared": "webhook",
  "webhook.secret_promoted": "webhook",
  "webhook.secret_rotated": "webhook",
  "webhook.tested": "webhook",
  "webhook.delivery_retried": "webhook",
  "webhook.replayed": "webhook",
  "pepper.rotated": "pepper",
  "pepper.former_ended": "pepper",
  "secrets.resealed": "secrets",
  "doorbell.created": "doorbell",
  "doorbell.rotated": "doorbell",
  "doorbell.removed": "doorbell",
  "connection.postgres_changed": "connection",
  "connection.salesforce_authorized": "connection",
  "workspace.created": "workspace",
  "workspace.renamed": "workspace",
  "workspace.budget_changed": "workspace",
  "workspace.paused": "workspace",
  "workspace.resumed": "workspace",
  "workspace.restore_begun": "workspace",
  "workspace.deleted": "workspace",
} as const satisfies Record<string, string>;

export type AuditAction = keyof typeof AUDIT_ACTIONS;
/** Who did what to which resource (contract 2.11). `detail` never holds secrets or rows' values. */
export interface AuditEntry {
  readonly id: string;
  readonly workspaceId: string;
  /** An e-mail address, or `system`. */
  readonly actor: string;
  readonly action: AuditAction;
  readonly resourceId: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
}

/** Who does something in a workspace, and when. */
export interface Doing {
  readonly workspaceId: string;
  readonly actor: string;
  readonly at: Date;
}

/** A new entry of what was done. */
export function auditEntry(
  { workspaceId, actor, at }: Doing,
  action: AuditAction,
  resourceId: string,
  detail: AuditEntry["detail"],
): AuditEntry {
  return { id: newId("aud"), workspaceId, actor, action, resourceId, detail, createdAt: at };
}

/** The same of a mapping, which the detail names by its object and table. */
export function mappingEntry(
  { actor, at }: Pick<Doing, "actor" | "at">,
  action: AuditAction,
  { id, workspaceId, sfObject, pgTable }: Pick<Mapping, "id" | "workspaceId" | "sfObject" | "pgTable">,
  more: AuditEntry["detail"] = {},
): AuditEntry {
  return auditEntry({ workspaceId, actor, at }, action, id, { sf_object: sfObject, pg_table: pgTable, ...more });
}

/** An entry as the contract's list shows it (contract 2.11), perhaps of a newer version. */
export type ListedEntry = Omit<ReturnType<typeof listedEntry>, "action" | "resource_type"> & {
  readonly action: string;
  readonly resource_type: string;
};

/** A new entry as lists show it. */
export function listedEntry({ id, actor, action, resourceId, detail, createdAt }: AuditEntry) {
  return {
    id,
    actor,
    action,
    resource_type: AUDIT_ACTIONS[action],
    resource_id: resourceId,
    detail,
    created_at: createdAt.toISOString(),
  };
}
