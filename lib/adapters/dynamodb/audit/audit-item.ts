import * as z from "zod/mini";
import { toCamelCase } from "../../../model/snake-case.ts";
import { AUDIT_ACTIONS, type AuditAction, type AuditEntry, listedEntry } from "../../../model/workspace/audit.ts";
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

/** What lists show of it: an action that a newer version wrote is shown, too. Older ones kept no `resource_type`. */
export function readListed(stored: Readonly<Record<string, unknown>>): unknown {
  const { workspace_id: _, ...listed } = JSON.parse(String(stored["entry"]));
  return "resource_type" in listed ? listed : listedEntry(readEntry(stored));
}

/** And back. */
export function readEntry(stored: Readonly<Record<string, unknown>>): AuditEntry {
  const { action, createdAt, ...entry } = toCamelCase(content, content.parse(JSON.parse(item.parse(stored).entry)));
  return { ...entry, action: action as AuditAction, createdAt: new Date(createdAt) };
}
