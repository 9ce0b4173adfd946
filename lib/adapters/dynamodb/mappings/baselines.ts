import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { Baselines } from "../../../config/ports.ts";
import type { Mapping } from "../../../model/mapping/mapping.ts";
import { deleteItems } from "../client/batch.ts";
import { chunkKeys, readChunks, writeChunks } from "../client/chunks.ts";
import type { Database } from "../client/client.ts";
import { commit } from "../commit.ts";
import { readMapping, writeMapping } from "./mapping-item.ts";

/** Sort keys of heads: the most recent sorts last. The chunks lie beside them under `chunk#<id>`. */
const headKey = (capturedAt: Date, id: string): string => `head#${capturedAt.toISOString()}#${id}`;

const place = (workspaceId: string, id: string) =>
  ({ table: "baselines", pk: workspaceId, prefix: `chunk#${id}` }) as const;

/**
 * Baselines in DynamoDB: the chunks first, then the head that makes them one, with the audit entry. The most recent one
 * stays beside a new one, for requests that are reading it; those before it are deleted.
 */
export function baselines(database: Database): Baselines {
  const known = new Map<string, readonly Mapping[]>(); // a baseline never changes
  return {
    save: async ({ id, workspaceId, capturedAt, mappings }, entry) => {
      await forgetOlder(database, workspaceId, await readHeads(database, workspaceId));
      const chunks = await writeChunks(database, place(workspaceId, id), mappings.map(writeMapping), null);
      const key = { pk: workspaceId, sk: headKey(capturedAt, id) };
      const Item = { ...key, id, captured_at: capturedAt.toISOString(), chunks };
      const writes = [{ Put: { TableName: database.table("baselines"), Item } }];
      await commit(database, { writes, audit: [entry], events: [] });
    },

    latest: async (workspaceId) => {
      const [newest] = await readHeads(database, workspaceId, 1);
      if (newest === undefined) return null;
      const { id, captured_at, chunks } = newest;
      const mappings = known.get(id) ?? (await readMappings(database, workspaceId, id, chunks));
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(id, mappings);
      return { id, workspaceId, capturedAt: new Date(captured_at), mappings };
    },
  };
}

type Head = z.infer<typeof head>;

/** The most recent ones first; all, or so many. */
async function readHeads(database: Database, workspaceId: string, limit?: number): Promise<readonly Head[]> {
  const asked = {
    TableName: database.table("baselines"),
    KeyConditionExpression: "pk = :pk AND begins_with(sk, :head)",
    ExpressionAttributeValues: { ":pk": workspaceId, ":head": "head#" },
    ScanIndexForward: false,
    ConsistentRead: true,
  };
  const { Items = [] } = await database.client.send(new QueryCommand({ ...asked, Limit: limit }));
  return Items.map((item) => head.parse(item));
}

/** Removes all but the first of these. */
async function forgetOlder(database: Database, workspaceId: string, [, ...old]: readonly Head[]): Promise<void> {
  const keys = old.flatMap(({ captured_at, id, chunks }) => [
    ...chunkKeys(place(workspaceId, id), chunks),
    { pk: workspaceId, sk: headKey(new Date(captured_at), id) },
  ]);
  await deleteItems(database, "baselines", keys);
}

/** Baselines that one process caches at most. */
const MAX_KNOWN = 20;

async function readMappings(
  database: Database,
  workspaceId: string,
  id: string,
  chunks: number,
): Promise<readonly Mapping[]> {
  const document = await readChunks(database, place(workspaceId, id), chunks);
  return z.array(z.unknown()).parse(document).map(readMapping);
}

const head = z.object({ id: z.string(), captured_at: z.string(), chunks: z.number() });
