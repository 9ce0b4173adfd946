import { auditLog } from "../../../functions/services/composition.ts";
import type { AuditFilter } from "../../../lib/audit/ports.ts";
import type { AuditAction, AuditEntry } from "../../../lib/model/workspace/audit.ts";

/** A page of the audit log as entries, with its total. */
export async function auditPage(filter: AuditFilter, slice: { readonly limit: number; readonly offset: number }) {
  const { rows, total } = await auditLog().page(filter, slice);
  const entries = rows.map(
    ({ id, action, resource_id, created_at, resource_type: _, ...same }): AuditEntry => ({
      ...same,
      action: action as AuditAction,
      id: id.replace(/\..*/, ""), // as it was given, without its places
      workspaceId: filter.workspaceId,
      resourceId: resource_id,
      createdAt: new Date(created_at),
    }),
  );
  return { entries, total };
}

/** The newest entries of an action, or of all, with how many there are. */
export const auditedIn = (workspaceId: string, action: string | null, limit: number) =>
  auditPage({ workspaceId, actor: null, action }, { limit, offset: 0 });
