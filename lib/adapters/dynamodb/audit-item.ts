import * as z from "zod/mini";
import { AUDIT_ACTIONS, AUDIT_DAYS, type AuditAction, type AuditEntry } from "../../model/audit.ts";
import { sequenceKey } from "./audit-keys.ts";

/** When DynamoDB may delete an entry, in epoch seconds. */
export const expiryOf = ({ createdAt }: AuditEntry): number =>
  Math.floor(createdAt.getTime() / 1000) + AUDIT_DAYS * 86_400;

/** An entry as it is kept in one of its partitions: one text, for a page of 500 is read as a whole. */
export function writeEntry(pk: string, sequence: number, entry: AuditEntry): Record<string, unknown> {
  const { id, workspaceId, actor, action, resourceId, detail, createdAt } = entry;
  const text = JSON.stringify({
    id,
    workspace_id: workspaceId,
    actor,
    action,
    resource_id: resourceId,
    detail,
    created_at: createdAt.toISOString(),
  });
  return { pk, sk: sequenceKey(sequence), entry: text, expires_at: expiryOf(entry) };
}

const item = z.object({ entry: z.string() });

const content = z.object({
  id: z.string(),
  workspace_id: z.string(),
  actor: z.string(),
  action: z.string().check(z.refine((action) => action in AUDIT_ACTIONS)),
  resource_id: z.string(),
  detail: z.record(z.string(), z.unknown()),
  created_at: z.string(),
});

/** And back. */
export function readEntry(stored: Record<string, unknown>): AuditEntry {
  const entry = content.parse(JSON.parse(item.parse(stored).entry));
  return {
    id: entry.id,
    workspaceId: entry.workspace_id,
    actor: entry.actor,
    action: entry.action as AuditAction,
    resourceId: entry.resource_id,
    detail: entry.detail,
    createdAt: new Date(entry.created_at),
  };
}
