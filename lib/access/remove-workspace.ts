import { Failure } from "../model/failure.ts";
import { type AuditEntry, auditEntry, type Doing } from "../model/workspace/audit.ts";
import { DEPLOYMENT } from "../model/workspace/pause.ts";
import type { PostgresConnection } from "../model/workspace/workspace.ts";

/** A workspace that is to go, or is on its way: what is left of it can still be found by its id. */
export interface LeavingWorkspace {
  readonly id: string;
  readonly name: string;
  /** Refused to all callers already; null: no removal has begun. */
  readonly deletedAt: Date | null;
  /** Nothing is left to remove. */
  readonly isGone: boolean;
  /** Decrypts where its rows are; null when no database was connected. */
  openPostgres(): Promise<PostgresConnection | null>;
}

/** What a workspace has in the service's own stores. */
export interface Belongings {
  readonly mappings: number;
  readonly webhooks: number;
  readonly tokens: number;
}

/** Where workspaces are removed. */
export interface WorkspaceRemoval {
  /** Finds one that is being removed, too; null: there never was one. */
  find(workspaceId: string): Promise<LeavingWorkspace | null>;
  count(workspaceId: string): Promise<Belongings>;
  /** From now on it is refused to all callers. Harmless when it was before. */
  condemn(workspaceId: string, entry: AuditEntry): Promise<void>;
  /** The ids of its mappings, of deleted ones too. */
  mappingIds(workspaceId: string): Promise<readonly string[]>;
  /** Removes all that belongs to it except the audit log and what expires on its own. */
  clear(workspaceId: string): Promise<void>;
  /** Forgets its credentials; its id and name stay, so that the id is never used again. */
  forget(workspaceId: string, at: Date): Promise<void>;
}

/** A customer's schema, as far as a removal cares. */
export interface CustomerSchema {
  /** Captured changes that Salesforce has not answered yet; null when the schema is not this workspace's. */
  waiting(connection: PostgresConnection, workspaceId: string): Promise<number | null>;
  /** Takes triggers, functions and metadata tables away; tables and their rows stay. Harmless when they are gone. */
  clear(connection: PostgresConnection, workspaceId: string): Promise<ClearedSchema>;
}

/** What was removed from a schema, by name. */
export interface ClearedSchema {
  readonly schema: string;
  readonly triggers: readonly string[];
  readonly functions: readonly string[];
  readonly tables: readonly string[];
  /** Tables that stay: changes that were not sent, and the way back to Heroku Connect. */
  readonly kept: readonly string[];
}

interface Needs {
  readonly removal: WorkspaceRemoval;
  readonly schedules: { remove(mappingId: string): Promise<void> };
  readonly schema: CustomerSchema;
}

interface Asked extends Doing {
  /** The database is gone or out of reach: what is in it stays. */
  readonly leaveDatabase: boolean;
}

/** What removing a workspace came to. */
export interface Removed {
  readonly workspaceId: string;
  readonly name: string;
  /** Null: nothing was connected, or it was left as it is. */
  readonly cleared: ClearedSchema | null;
}

/**
 * Removes a workspace for good. It is refused to all callers first; then its beat ends, its database is cleaned, and
 * what the service keeps of it is removed, its credentials last. Interrupted at any point, the same call continues it.
 */
export async function removeWorkspace({ removal, schedules, schema }: Needs, asked: Asked): Promise<Removed> {
  const { workspaceId, at } = asked;
  const workspace = await findLeaving(removal, workspaceId);
  const { name } = workspace;
  if (workspace.isGone) return { workspaceId, name, cleared: null };
  const belongings = await removal.count(workspaceId);
  await removal.condemn(workspaceId, auditEntry(asked, "workspace.deleted", workspaceId, { name, ...belongings }));
  // One that a sweep makes again before the mapping is gone is ended by the next sweep.
  for (const mappingId of await removal.mappingIds(workspaceId)) await schedules.remove(mappingId);
  const postgres = asked.leaveDatabase ? null : await workspace.openPostgres();
  const cleared = postgres && (await schema.clear(postgres, workspaceId));
  await removal.clear(workspaceId);
  await removal.forget(workspaceId, at);
  return { workspaceId, name, cleared };
}

/** What would be lost, for the confirmation. `waiting` is null where the database says nothing. */
export async function describeRemoval(
  { removal, schema }: Pick<Needs, "removal" | "schema">,
  workspaceId: string,
): Promise<Belongings & { readonly name: string; readonly isGone: boolean; readonly waiting: number | null }> {
  const workspace = await findLeaving(removal, workspaceId);
  const { name, isGone } = workspace;
  const postgres = isGone ? null : await workspace.openPostgres();
  const waiting = postgres && (await schema.waiting(postgres, workspaceId).catch(() => null));
  return { name, isGone, waiting, ...(await removal.count(workspaceId)) };
}

async function findLeaving(removal: WorkspaceRemoval, workspaceId: string): Promise<LeavingWorkspace> {
  const workspace = await removal.find(workspaceId);
  if (workspace && workspaceId !== DEPLOYMENT) return workspace;
  throw new Failure(
    "WORKSPACE_NOT_FOUND",
    `no workspace ${workspaceId}: bridge workspace list --all names those there are`,
  );
}
