import { Failure } from "../model/failure.ts";
import { newId } from "../model/id.ts";
import { type AuditEntry, auditEntry } from "../model/workspace/audit.ts";
import { DEPLOYMENT } from "../model/workspace/pause.ts";
import type { PostgresConnection, SalesforceConnection, Workspace } from "../model/workspace/workspace.ts";
import { createToken, emailAddress } from "./create-token.ts";
import type { Pepper, Tokens, Workspaces } from "./ports.ts";

interface Needs {
  readonly workspaces: Workspaces;
  readonly tokens: Tokens;
  readonly pepper: Pepper;
}

interface Asked {
  readonly name: string;
  /** Who may administer it: the owner of the first token. */
  readonly ownerEmail: string;
  /** Null: to be connected later. */
  readonly postgres: PostgresConnection | null;
  readonly salesforce: SalesforceConnection | null;
  readonly at: Date;
}

/** Makes a workspace and the first token that administers it; the token is shown here and never again. */
export async function createWorkspace(
  needs: Needs,
  { name, ownerEmail, postgres, salesforce, at }: Asked,
): Promise<{ readonly workspace: Workspace; readonly token: string }> {
  if (name.trim() === "" || name.length > 100) {
    throw new Failure("VALIDATION_ERROR", "a workspace needs a name of 1 to 100 characters");
  }
  const owner = emailAddress(ownerEmail);
  const workspace: Workspace = { id: newId("ws"), name: name.trim(), createdAt: at, postgres, salesforce };
  await needs.workspaces.create(workspace, createdBy(owner, workspace));
  const first = { workspaceId: workspace.id, name: "first token", owner, actor: owner, validUntil: null, at };
  const { token } = await createToken(needs, { ...first, scopes: ["admin"] });
  return { workspace, token };
}

function createdBy(actor: string, { id, name, createdAt }: Workspace): AuditEntry {
  return auditEntry({ workspaceId: id, actor, at: createdAt }, "workspace.created", id, { name });
}

/** Makes the operators' own workspace if there is none. */
export async function ensureDeployment(workspaces: Pick<Workspaces, "find" | "create">, actor: string, at: Date) {
  if ((await workspaces.find(DEPLOYMENT)) !== null) return;
  const made: Workspace = { id: DEPLOYMENT, name: "All workspaces", createdAt: at, postgres: null, salesforce: null };
  await workspaces.create(made, createdBy(actor, made));
}
