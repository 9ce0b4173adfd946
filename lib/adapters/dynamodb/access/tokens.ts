import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { TokenRecord, Tokens } from "../../../access/ports.ts";
import { TABLES } from "../../../model/resources.ts";
import { toCamelCase, toSnakeCase } from "../../../model/snake-case.ts";
import { SCOPES } from "../../../model/workspace/token.ts";
import type { Database } from "../client/client.ts";
import { present } from "../client/difference.ts";
import { queryAll, readItem } from "../client/read-item.ts";
import { optionalTime, storedTime } from "../client/stored-time.ts";
import type { Write } from "../client/transact.ts";
import { commit, commitIf } from "../commit.ts";

/** A token that has expired or was revoked is still listed for this many days, then DynamoDB deletes it. */
const KEPT_DAYS = 30;

/** When DynamoDB may delete a token that ended then, in epoch seconds. */
const expiryAfter = (end: Date): number => Math.floor(end.getTime() / 1000) + KEPT_DAYS * 86_400;

/** API tokens in DynamoDB, found by their keyed hash. */
export function tokens(database: Database): Tokens {
  return {
    find: async (hash) => {
      const found = await readItem(database, "tokens", { pk: hash });
      return found === undefined ? null : readToken(found);
    },

    create: (hash, token, entry) => {
      const Put = { TableName: database.table("tokens"), Item: writeToken(hash, token) };
      return commit(database, { writes: [{ Put }], audit: [entry], events: [] });
    },

    list: async (workspaceId) => (await readTokenItems(database, workspaceId)).map(readToken),

    revoke: async (workspaceId, tokenId, endsAt, entry) => {
      const items = await readTokenItems(database, workspaceId);
      const found = items.find(({ id }) => id === tokenId);
      if (found === undefined) return null;
      const end = endsAt > entry.createdAt ? ({ validUntil: endsAt } as const) : { revokedAt: entry.createdAt };
      const writes = [markEnding(database, found["pk"], end)];
      const isEnding = await commitIf(database, { writes, audit: [entry], events: [] });
      return isEnding ? { ...readToken(found), ...end } : null;
    },

    touch: async (hash, usedAt) => {
      await database.client.send(
        new UpdateCommand({
          TableName: database.table("tokens"),
          Key: { pk: hash },
          UpdateExpression: "SET last_used_at = :at",
          ConditionExpression: "attribute_exists(pk)",
          ExpressionAttributeValues: { ":at": usedAt.toISOString() },
        }),
      );
    },
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

function markEnding(database: Database, pk: unknown, end: { revokedAt: Date } | { validUntil: Date }): Write {
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
  created_at: storedTime,
  valid_until: optionalTime,
  revoked_at: optionalTime,
  last_used_at: optionalTime,
});

const readToken = (stored: Record<string, unknown>): TokenRecord => toCamelCase(item, item.parse(stored));

function writeToken(hash: string, token: TokenRecord): Record<string, unknown> {
  const expiresAt = token.validUntil && expiryAfter(token.validUntil);
  return present({ pk: hash, ...toSnakeCase(item, token), expires_at: expiresAt });
}
