import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { Baselines } from "../../config/ports.ts";
import type { Mapping } from "../../model/mapping.ts";
import { readChunks, writeChunks } from "./chunks.ts";
import type { Database } from "./client.ts";
import { commit } from "./commit.ts";
import { readMapping, writeMapping } from "./mapping-item.ts";

/** Sort keys of heads: the most recent sorts last. The chunks lie beside them under `chunk#<id>`. */
const headKey = (capturedAt: Date, id: string): string => `head#${capturedAt.toISOString()}#${id}`;

const place = (workspaceId: string, id: string) =>
  ({ table: "baselines", pk: workspaceId, prefix: `chunk#${id}` }) as const;

/** Baselines in DynamoDB: the chunks first, then the head that makes them one, with the audit entry. */
export function baselines(database: Database): Baselines {
  const known = new Map<string, readonly Mapping[]>(); // a baseline never changes
  return {
    save: async ({ id, workspaceId, capturedAt, mappings }, entry) => {
      const chunks = await writeChunks(database, place(workspaceId, id), mappings.map(writeMapping), null);
      const Item = {
        pk: workspaceId,
        sk: headKey(capturedAt, id),
        id,
        captured_at: capturedAt.toISOString(),
        chunks,
      };
      const writes = [{ Put: { TableName: database.table("baselines"), Item } }];
      await commit(database, { writes, audit: [entry], events: [] });
    },

    latest: async (workspaceId) => {
      const { Items = [] } = await database.client.send(
        new QueryCommand({
          TableName: database.table("baselines"),
          KeyConditionExpression: "pk = :pk AND begins_with(sk, :head)",
          ExpressionAttributeValues: { ":pk": workspaceId, ":head": "head#" },
          ScanIndexForward: false,
          Limit: 1,
          ConsistentRead: true,
        }),
      );
      if (Items[0] === undefined) return null;
      const { id, captured_at, chunks } = head.parse(Items[0]);
      const mappings = known.get(id) ?? (await readMappings(database, workspaceId, id, chunks));
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(id, mappings);
      return { id, workspaceId, capturedAt: new Date(captured_at), mappings };
    },
  };
}

/** Baselines that one process remembers at most. */
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
