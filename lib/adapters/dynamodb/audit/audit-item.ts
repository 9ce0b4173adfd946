import { type AuditAction, type AuditEntry, type ListedEntry, listedEntry } from "../../../model/workspace/audit.ts";
import { AUDIT_ACTIONS } from "../../../model/workspace/audit-actions.ts";
import { sequenceKey } from "./audit-keys.ts";

/**
 * An entry as it is kept in one of its partitions: one text, for a page of 500 is read as a whole. It expires at
 * `expiresAt`, epoch seconds.
 */
export function writeEntry(
  pk: string,
  sequence: number,
  entry: AuditEntry,
  expiresAt: number,
): Record<string, unknown> {
  const text = JSON.stringify({ ...listedEntry(entry), workspace_id: entry.workspaceId });
  return { pk, sk: sequenceKey(sequence), entry: text, expires_at: expiresAt };
}

/**
 * And back, as lists show it. Its text is trusted, for a newer version may have written an action that this one does not
 * know. Versions up to 0.2 kept no `resource_type`.
 */
export function readListed(stored: Readonly<Record<string, unknown>>): ListedEntry {
  const { workspace_id: _, ...listed } = JSON.parse(String(stored["entry"]));
  if ("resource_type" in listed) return listed;
  const { id, actor, action, ...rest } = listed;
  return { id, actor, action, resource_type: AUDIT_ACTIONS[action as AuditAction]?.[0], ...rest };
}
