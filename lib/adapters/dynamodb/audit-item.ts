import * as z from "zod/mini";
import { AUDIT_ACTIONS, AUDIT_DAYS, type AuditAction, type AuditEntry } from "../../model/audit.ts";
import { sequenceKey } from "./audit-keys.ts";

/** An entry as it is kept in one of its partitions. */
export function writeEntry(pk: string, sequence: number, entry: AuditEntry): Record<string, unknown> {
  return {
    pk,
    sk: sequenceKey(sequence),
    id: entry.id,
    workspace_id: entry.workspaceId,
    actor: entry.actor,
    action: entry.action,
    resource_type: AUDIT_ACTIONS[entry.action],
    resource_id: entry.resourceId,
    detail: JSON.stringify(entry.detail),
    created_at: entry.createdAt.toISOString(),
    expires_at: Math.floor(entry.createdAt.getTime() / 1000) + AUDIT_DAYS * 86_400,
  };
}

const item = z.object({
  id: z.string(),
  workspace_id: z.string(),
  actor: z.string(),
  action: z.string().check(z.refine((action) => action in AUDIT_ACTIONS)),
  resource_id: z.string(),
  detail: z.string(),
  created_at: z.string(),
});

/** And back. */
export function readEntry(stored: Record<string, unknown>): AuditEntry {
  const entry = item.parse(stored);
  return {
    id: entry.id,
    workspaceId: entry.workspace_id,
    actor: entry.actor,
    action: entry.action as AuditAction,
    resourceId: entry.resource_id,
    detail: JSON.parse(entry.detail) as Record<string, unknown>,
    createdAt: new Date(entry.created_at),
  };
}
