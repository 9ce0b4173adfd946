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
    scopes: asked.scopes,
    createdAt: asked.at,
    validUntil: asked.validUntil,
    revokedAt: null,
    lastUsedAt: null,
  };
  await tokens.create(tokenHash(token, await pepper.readOrCreate()), record, entryOf(record, asked));
  return { token, record };
}

/** An e-mail address in lower case, so that one person is one actor; refuses what is none. */
export function emailAddress(text: string): string {
  const address = text.trim().toLowerCase();
  if (address.length <= 254 && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(address)) return address;
  throw new Failure("VALIDATION_ERROR", "the owner must be an e-mail address");
}

function entryOf({ id, name, owner, scopes, validUntil }: TokenRecord, asked: Asked): AuditEntry {
  const detail = { name, owner, scopes, valid_until: validUntil?.toISOString() ?? null };
  return auditEntry(asked, "token.created", id, detail);
}
