import { newId } from "../id.ts";
import type { Mapping } from "../mapping/mapping.ts";
import { AUDIT_ACTIONS } from "./audit-actions.ts";

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
    resource_type: AUDIT_ACTIONS[action][0],
    resource_id: resourceId,
    detail,
    created_at: createdAt.toISOString(),
  };
}
