import { Failure } from "../model/failure.ts";
import { allows, type Scope } from "../model/workspace/token.ts";
import type { Pepper, SealedWorkspace, TokenRecord, Tokens, Workspaces } from "./ports.ts";
import { isWellFormed, tokenHash } from "./token.ts";

interface Needs {
  readonly tokens: Tokens;
  readonly pepper: Pepper;
  readonly workspaces: Pick<Workspaces, "find">;
}

/** Who asks, in which workspace. */
export interface Caller {
  readonly token: TokenRecord;
  readonly workspace: SealedWorkspace;
}

interface Attempt {
  /** The Authorization header as it came. */
  readonly authorization: string | undefined;
  readonly workspaceId: string;
  readonly scope: Scope;
  /** What is asked for is asked for by an invitation, and by nothing else. */
  readonly byInvitation: boolean;
  readonly at: Date;
}

/**
 * Lets a request in, or refuses in the contract's order (contract 5 and 7): 401 without a token
 * that is valid now, 404 for a workspace that does not exist, 403 for another workspace or a scope that is too small.
 * A malformed token is refused without any look-up.
 */
export async function authenticate(needs: Needs, attempt: Attempt): Promise<Caller> {
  const presented = bearer(attempt.authorization);
  const [token, workspace] = await Promise.all([
    findToken(needs, presented, attempt.at),
    needs.workspaces.find(attempt.workspaceId),
  ]);
  if (token === null) throw unauthorized("the API token is unknown, revoked or expired");
  if (token.invited && !attempt.byInvitation)
    throw unauthorized("this is an invitation, which opens nothing: open its link, or run bridge accept");
  if (workspace === null) throw new Failure("WORKSPACE_NOT_FOUND", "workspace not found or access denied");
  if (token.workspaceId !== workspace.id) {
    throw new Failure("FORBIDDEN", "this API token belongs to another workspace");
  }
  if (!allows(token.invited ?? token.scopes, attempt.scope)) {
    throw new Failure(
      "FORBIDDEN",
      `this needs a token with scope ${attempt.scope}; yours has ${token.scopes.join(", ")}`,
    );
  }
  if (attempt.byInvitation && !token.invited)
    throw new Failure("FORBIDDEN", "this takes an invitation; yours is a token, which opens the API as it is");
  return { token, workspace };
}

function bearer(authorization: string | undefined): string {
  if (authorization === undefined || authorization.trim() === "") {
    throw unauthorized("send your API token as `Authorization: Bearer <API_TOKEN>`");
  }
  const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (token === undefined || !isWellFormed(token)) {
    throw unauthorized("the Authorization header holds no well-formed API token: `Bearer brg_…`, copied in full");
  }
  return token;
}

async function findToken({ tokens, pepper }: Needs, presented: string, at: Date): Promise<TokenRecord | null> {
  const peppers = await pepper.read();
  if (peppers === null) return null;
  const hash = tokenHash(presented, peppers.current);
  const token = await tokens.find(hash, peppers.other && tokenHash(presented, peppers.other));
  if (token === null || !isValid(token, at)) return null;
  await tokens.touch(hash, at);
  return token;
}

/** Whether a token opens anything then. */
export function isValid({ revokedAt, validUntil }: TokenRecord, at: Date): boolean {
  return revokedAt === null && (validUntil === null || validUntil > at);
}

const unauthorized = (message: string): Failure =>
  new Failure("UNAUTHORIZED", message, { headers: { "WWW-Authenticate": "Bearer" } });
