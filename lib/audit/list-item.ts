import { AUDIT_ACTIONS, type AuditEntry } from "../model/audit.ts";

/** An audit entry as the list shows it (spec 2.11). */
export function listItem({ id, actor, action, resourceId, detail, createdAt }: AuditEntry) {
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
