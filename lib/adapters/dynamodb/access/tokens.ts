import * as z from "zod/mini";
import type { TokenHash, TokenRecord, Tokens } from "../../../access/ports.ts";
import { TABLES } from "../../../model/resources.ts";
import { toCamelCase, toSnakeCase } from "../../../model/snake-case.ts";
import type { AuditEntry } from "../../../model/workspace/audit.ts";
import { SCOPES } from "../../../model/workspace/token.ts";
import type { Database } from "../client/client.ts";
import { present } from "../client/difference.ts";
import { queryAll, readItem } from "../client/read-item.ts";
import { optionalTime, storedTime } from "../client/stored-time.ts";
import { jitteredPause, updateIf, type Write } from "../client/transact.ts";
import { commit, commitIf } from "../commit.ts";

/** A token that has expired or was revoked is still listed for this many days, then DynamoDB deletes it. */
const KEPT_DAYS = 30;

/** When DynamoDB may delete a token that ended then, in epoch seconds. */
const expiryAfter = (end: Date): number => Math.floor(end.getTime() / 1000) + KEPT_DAYS * 86_400;

/** API tokens in DynamoDB, found by their keyed hash. */
export function tokens(database: Database): Tokens {
  return {
    find: async (hash, other) => {
      const found = await readItem(database, "tokens", { pk: hash.hash });
      const token = found ?? (other && (await moveToken(database, other.hash, hash)));
      return token ? readToken(token) : null;
    },

    create: (hash, token, entry) => {
      const Put = { TableName: database.table("tokens"), Item: writeToken(hash, token) };
      return commit(database, { writes: [{ Put }], audit: [entry], events: [] });
    },

    list: async (workspaceId) => (await readTokenItems(database, workspaceId)).map(readToken),

    revoke: async (workspaceId, tokenId, endsAt, entry) => {
      const end = endsAt > entry.createdAt ? ({ validUntil: endsAt } as const) : { revokedAt: entry.createdAt };
      for (let attempt = 1; ; attempt += 1) {
        const items = await readTokenItems(database, workspaceId);
        const found = items.find(({ id }) => id === tokenId);
        if (found === undefined) return null;
        const Key = { pk: found["pk"] };
        if (await endToken(database, Key, end, entry)) return { ...readToken(found), ...end };
        // It ends before, or was moved, which the index knows a moment later.
        if (attempt === ATTEMPTS || (await readItem(database, "tokens", Key)) !== undefined) return null;
        await jitteredPause(attempt);
      }
    },

    touch: async ({ hash }, usedAt) => {
      await updateIf(database, "tokens", {
        Key: { pk: hash },
        UpdateExpression: "SET last_used_at = :at",
        ConditionExpression: "attribute_exists(pk)",
        ExpressionAttributeValues: { ":at": usedAt.toISOString() },
      });
    },
  };
}

const ATTEMPTS = 6;

/**
 * The token that is kept by a former hash, moved to its hash under the pepper in use; undefined: there is none. Of two
 * that move it at once, both get it. One that is revoked meanwhile is given as it is then.
 */
async function moveToken(database: Database, former: string, to: TokenHash) {
  const before = await readItem(database, "tokens", { pk: former });
  if (before !== undefined) {
    const Item = { ...before, pk: to.hash, pepper: to.pepper };
    const TableName = database.table("tokens");
    const Put = { TableName, Item, ConditionExpression: "attribute_not_exists(pk)" };
    const Delete = { TableName, Key: { pk: former }, ...isUnchanged(before, ["pk", "revoked_at", "valid_until"]) };
    if (await commitIf(database, { writes: [{ Put }, { Delete }], audit: [], events: [] })) return Item;
  }
  return (
    (await readItem(database, "tokens", { pk: to.hash })) ?? (before && readItem(database, "tokens", { pk: former }))
  );
}

/** The condition that an item has these attributes as it had them, or still lacks them. */
function isUnchanged(item: Record<string, unknown>, names: readonly string[]) {
  const had = names.filter((name) => item[name] !== undefined);
  const are = names.map((name) => (had.includes(name) ? `${name} = :${name}` : `attribute_not_exists(${name})`));
  return {
    ConditionExpression: are.join(" AND "),
    ExpressionAttributeValues: Object.fromEntries(had.map((name) => [`:${name}`, item[name]])),
  };
}

/** The items of a workspace's tokens, newest first. By the index, which may not know a token of the last second yet. */
export const readTokenItems = (database: Database, workspaceId: string): Promise<readonly Record<string, unknown>[]> =>
  queryAll(database, "tokens", {
    IndexName: TABLES.tokens.indexes[0].name,
    KeyConditionExpression: "workspace_id = :workspace",
    ExpressionAttributeValues: { ":workspace": workspaceId },
    ScanIndexForward: false,
  });

type End = { readonly revokedAt: Date } | { readonly validUntil: Date };

/** Ends the token of an item, with the audit entry; false: it ends before, or is not there. */
export const endToken = (database: Database, { pk }: { readonly pk: unknown }, end: End, entry: AuditEntry) =>
  commitIf(database, { writes: [markEnding(database, pk, end)], audit: [entry], events: [] });

function markEnding(database: Database, pk: unknown, end: End): Write {
  const isRevoked = "revokedAt" in end;
  const at = isRevoked ? end.revokedAt : end.validUntil;
  const isSooner = "AND (attribute_not_exists(valid_until) OR valid_until > :at)";
  return {
    Update: {
      TableName: database.table("tokens"),
      Key: { pk },
      UpdateExpression: `SET ${isRevoked ? "revoked_at" : "valid_until"} = :at, expires_at = :expiry`,
      ConditionExpression: `attribute_exists(pk) AND attribute_not_exists(revoked_at) ${isRevoked ? "" : isSooner}`,
      ExpressionAttributeValues: { ":at": at.toISOString(), ":expiry": expiryAfter(at) },
    },
  };
}

const item = z.object({
  id: z.string(),
  workspace_id: z.string(),
  name: z.string(),
  owner: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  /** Of an invitation; its own scopes are none, so that it opens nothing in a version that does not know it. */
  invited: z._default(z.nullable(z.array(z.enum(SCOPES))), null),
  created_at: storedTime,
  valid_until: optionalTime,
  revoked_at: optionalTime,
  last_used_at: optionalTime,
});

/** The token that an item holds. */
export const readToken = (stored: Record<string, unknown>): TokenRecord => toCamelCase(item, item.parse(stored));

function writeToken({ hash, pepper }: TokenHash, token: TokenRecord): Record<string, unknown> {
  const expiresAt = token.validUntil && expiryAfter(token.validUntil);
  return present({ pk: hash, pepper, ...toSnakeCase(item, token), expires_at: expiresAt });
}
