import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { Vault } from "../../../access/ports.ts";
import type { Beginning, KeptAnswer, NamedRequest, Repeats } from "../../../access/repeats.ts";
import type { Database } from "../client/client.ts";
import { readItem } from "../client/read-item.ts";
import { isConditionFailed } from "../client/transact.ts";

const KEPT_SECONDS = 86_400;

/** Longer than any function of the API runs: a request that has not ended by then never will. */
const RUNNING_SECONDS = 60;

/** An item ends at 400 KB (DynamoDB). */
const MOST_CHARACTERS = 350 * 1024;

/** Answers beside the counted requests, sealed, because an answer may hold a token or a secret that is shown once. */
export function repeats(database: Database, vault: Vault): Repeats {
  const table = () => database.table("rateLimits");
  return {
    begin: async (request, at) => {
      const seconds = Math.floor(at.getTime() / 1000);
      const item = { ...keyOf(request), fingerprint: request.fingerprint, expires_at: seconds + RUNNING_SECONDS };
      try {
        await database.client.send(
          new PutCommand({
            TableName: table(),
            Item: item,
            ConditionExpression: "attribute_not_exists(pk) OR expires_at <= :now",
            ExpressionAttributeValues: { ":now": seconds },
          }),
        );
        return { state: "first" };
      } catch (error) {
        if (!isConditionFailed(error)) throw error;
      }
      const stored = await readItem(database, "rateLimits", keyOf(request));
      return stored === undefined ? { state: "running" } : beginningOf(vault, request, stored);
    },

    keep: async (request, answer, at) => {
      const packed = gzipSync(JSON.stringify(answer)).toString("base64");
      const sealed = await vault.seal(request.workspaceId, packed);
      const expires_at = Math.floor(at.getTime() / 1000) + KEPT_SECONDS;
      const { fingerprint, workspaceId: workspace_id } = request;
      const item = { ...keyOf(request), fingerprint, workspace_id, answer: sealed, expires_at };
      if (sealed.length > MOST_CHARACTERS) await forget(database, request);
      else await database.client.send(new PutCommand({ TableName: table(), Item: item }));
    },

    release: (request) => forget(database, request),
  };
}

async function forget(database: Database, request: NamedRequest): Promise<void> {
  await database.client.send(new DeleteCommand({ TableName: database.table("rateLimits"), Key: keyOf(request) }));
}

function keyOf({ workspaceId, tokenId, key }: NamedRequest) {
  const name = createHash("sha256")
    .update(JSON.stringify([workspaceId, tokenId, key]))
    .digest("base64url");
  return { pk: `repeat#${name}` };
}

const item = z.object({ fingerprint: z.string(), answer: z.optional(z.string()) });

const keptAnswer = z.object({
  statusCode: z.number(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
});

async function beginningOf(vault: Vault, request: NamedRequest, stored: unknown): Promise<Beginning> {
  const { fingerprint, answer } = item.parse(stored);
  if (fingerprint !== request.fingerprint) return { state: "other" };
  if (answer === undefined) return { state: "running" };
  const packed = await vault.open(request.workspaceId, answer);
  const text = gunzipSync(Buffer.from(packed, "base64")).toString();
  return { state: "done", answer: keptAnswer.parse(JSON.parse(text)) satisfies KeptAnswer };
}
