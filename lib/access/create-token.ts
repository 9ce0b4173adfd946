import { Failure } from "../model/failure.ts";
import { newId } from "../model/id.ts";
import { type AuditEntry, auditEntry, type Doing } from "../model/workspace/audit.ts";
import { SCOPES, type Scope } from "../model/workspace/token.ts";
import type { Pepper, TokenRecord, Tokens } from "./ports.ts";
import { mintToken, tokenHash } from "./token.ts";

interface Needs {
  readonly tokens: Tokens;
  readonly pepper: Pepper;
}

interface Asked extends Doing {
  readonly name: string;
  /** The token's owner: an e-mail address. */
  readonly owner: string;
  readonly scopes: readonly Scope[];
  readonly validUntil: Date | null;
  /** An invitation in place of a token; left out: false. */
  readonly invitation?: boolean;
}

/** Makes a token. It is in the answer and nowhere else: it cannot be shown again. */
export async function createToken(
  { tokens, pepper }: Needs,
  asked: Asked,
): Promise<{ readonly token: string; readonly record: TokenRecord }> {
  const widest = SCOPES.findLast((scope) => asked.scopes.includes(scope));
  if (widest === undefined) throw new Failure("VALIDATION_ERROR", "a token needs at least one scope");
  const token = mintToken(widest);
  const record: TokenRecord = {
    id: newId("tok"),
    workspaceId: asked.workspaceId,
    name: asked.name,
    owner: emailAddress(asked.owner),
    scopes: asked.invitation ? [] : asked.scopes,
    invited: asked.invitation ? asked.scopes : null,
    createdAt: asked.at,
    validUntil: asked.validUntil,
    revokedAt: null,
    lastUsedAt: null,
  };
  await tokens.create(tokenHash(token, await pepper.readOrCreate()), record, entryOf(record, asked));
  return { token, record };
}

/**
 * Makes the token that an invitation is for, and ends the invitation: it can be used once. Its owner is the actor. Refuses
 * one that was used or withdrawn meanwhile.
 */
export async function acceptInvitation(
  needs: Needs,
  { id, workspaceId, name, owner, invited }: TokenRecord,
  at: Date,
): Promise<{ readonly token: string; readonly record: TokenRecord }> {
  const [by, scopes] = [{ workspaceId, actor: owner, at }, invited ?? []];
  const entry = auditEntry(by, "invitation.accepted", id, { owner, scopes });
  if ((await needs.tokens.revoke(workspaceId, id, at, entry)) === null)
    throw new Failure("CONFLICT", "this invitation was used or withdrawn: ask for another one");
  return createToken(needs, { ...by, name, owner, scopes, validUntil: null });
}

/** An e-mail address in lower case, so that one person is one actor; refuses what is none. */
export function emailAddress(text: string): string {
  const address = text.trim().toLowerCase();
  if (address.length <= 254 && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(address)) return address;
  throw new Failure("VALIDATION_ERROR", "the owner must be an e-mail address");
}

function entryOf({ id, name, owner, validUntil, invited }: TokenRecord, asked: Asked): AuditEntry {
  const detail = { name, owner, scopes: asked.scopes, valid_until: validUntil?.toISOString() ?? null };
  return auditEntry(asked, invited ? "invitation.created" : "token.created", id, detail);
}
