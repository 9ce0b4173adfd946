import { now, pepper, tokens, workspaces } from "../../../functions/services/composition.ts";
import { createWorkspace, ensureDeployment } from "../../../lib/access/bootstrap.ts";
import { createToken } from "../../../lib/access/create-token.ts";
import { DEPLOYMENT } from "../../../lib/model/workspace/pause.ts";
import type { Scope } from "../../../lib/model/workspace/token.ts";
import type { PostgresConnection, SalesforceConnection } from "../../../lib/model/workspace/workspace.ts";

/** A workspace as a test has it: its id and a token that administers it. */
export interface TestWorkspace {
  readonly id: string;
  readonly token: string;
  /** Another token of it. */
  tokenWith(scopes: readonly Scope[], validUntil?: Date): Promise<string>;
}

/** Makes a workspace through the service's own adapters. */
export async function createTestWorkspace(
  connections: { readonly postgres?: PostgresConnection; readonly salesforce?: SalesforceConnection } = {},
): Promise<TestWorkspace> {
  const needs = { workspaces: workspaces(), tokens: tokens(), pepper: pepper() };
  const { workspace, token } = await createWorkspace(needs, {
    name: "Test",
    ownerEmail: "Owner@Example.com",
    postgres: connections.postgres ?? null,
    salesforce: connections.salesforce ?? null,
    at: now(),
  });
  return { id: workspace.id, token, tokenWith: tokensOf(workspace.id) };
}

/** The operators' own workspace, made if there is none, with a token as `bridge operator token` makes it. */
export async function operatorsWorkspace(): Promise<TestWorkspace> {
  await ensureDeployment(workspaces(), "operator@example.com", now());
  const tokenWith = tokensOf(DEPLOYMENT);
  return { id: DEPLOYMENT, token: await tokenWith(["admin"]), tokenWith };
}

const tokensOf =
  (workspaceId: string, owner = "owner@example.com"): TestWorkspace["tokenWith"] =>
  async (scopes, validUntil) => {
    const asked = { workspaceId, name: "another", owner, actor: owner };
    const needs = { tokens: tokens(), pepper: pepper() };
    return (await createToken(needs, { ...asked, scopes, validUntil: validUntil ?? null, at: now() })).token;
  };

/** A token of Ada's. */
export const tokenFor = (workspaceId: string, scope: Scope = "admin"): Promise<string> =>
  tokensOf(workspaceId, "ada@example.com")([scope]);
