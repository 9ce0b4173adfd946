import type { TokenRecord, Tokens } from "../access/ports.ts";
import { Failure } from "../model/failure.ts";
import { auditEntry, type Doing } from "../model/workspace/audit.ts";

interface Asked extends Doing {
  readonly tokenId: string;
  /** Until when it opens the API; `at` ends it at once. */
  readonly endsAt: Date;
}

/**
 * Ends a token; processes that know it forget it within seconds. The last one that administers a workspace stays, for
 * none could create another: CONFLICT, also where others do that end before it.
 */
export async function revokeToken(
  tokens: Tokens,
  { workspaceId, tokenId, endsAt, actor, at }: Asked,
): Promise<TokenRecord> {
  const all = await tokens.list(workspaceId);
  const token = all.find(({ id }) => id === tokenId);
  if (token === undefined) throw new Failure("NOT_FOUND", "this workspace has no token with this id");
  if (token.revokedAt !== null) return token;
  if (isLastAdministrator(token, all, at)) {
    throw new Failure("CONFLICT", "this is the last token that administers the workspace: make another one first");
  }
  const isLater = endsAt > at;
  const { name, owner, scopes } = token;
  const detail = { name, owner, scopes, ...(isLater && { valid_until: endsAt.toISOString() }) };
  const entry = auditEntry({ workspaceId, actor, at }, "token.revoked", tokenId, detail);
  const ended = await tokens.revoke(workspaceId, tokenId, endsAt, entry);
  return ended ?? (isLater ? token : { ...token, revokedAt: at });
}

function isLastAdministrator(token: TokenRecord, all: readonly TokenRecord[], at: Date): boolean {
  const opens = ({ scopes, revokedAt, validUntil }: TokenRecord) =>
    scopes.includes("admin") && revokedAt === null && (validUntil === null || validUntil > at);
  const endOf = ({ validUntil }: TokenRecord) => validUntil?.getTime() ?? Number.POSITIVE_INFINITY;
  return opens(token) && !all.some((other) => other !== token && opens(other) && endOf(other) >= endOf(token));
}
