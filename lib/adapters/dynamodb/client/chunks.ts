import { gunzipSync, gzipSync } from "node:zlib";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { TableName } from "../../../model/resources.ts";
import { readItems } from "./batch.ts";
import type { Database } from "./client.ts";

/** An item ends at 400 KB (DynamoDB), keys and the rest included. */
const CHUNK_BYTES = 350 * 1024;

interface Place {
  readonly table: TableName;
  readonly pk: string;
  /** Sort keys of the chunks begin with it. */
  readonly prefix: string;
}

const chunkKey = ({ pk, prefix }: Place, at: number) => ({ pk, sk: `${prefix}#${String(at).padStart(4, "0")}` });

/** The keys of a document's chunks. */
export const chunkKeys = (place: Place, count: number) => Array.from({ length: count }, (_, at) => chunkKey(place, at));

/** Keeps a document of any size as compressed chunks, and gives their number. `expiresAt` in epoch seconds. */
export async function writeChunks(
  database: Database,
  place: Place,
  document: unknown,
  expiresAt: number | null,
): Promise<number> {
  const bytes = gzipSync(JSON.stringify(document));
  const count = Math.ceil(bytes.length / CHUNK_BYTES);
  for (let at = 0; at < count; at += 1) {
    const body = bytes.subarray(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES);
    const Item = { ...chunkKey(place, at), body, ...(expiresAt === null ? {} : { expires_at: expiresAt }) };
    await database.client.send(new PutCommand({ TableName: database.table(place.table), Item }));
  }
  return count;
}

/** The document of `count` chunks; null when one of them is gone. */
export async function readChunks(database: Database, place: Place, count: number): Promise<unknown> {
  const keys = chunkKeys(place, count);
  const chunks = (await readItems(database, place.table, keys)).map((item) => chunk.parse(item));
  const bodies = new Map(chunks.map(({ sk, body }) => [sk, body]));
  const parts = keys.map(({ sk }) => bodies.get(sk));
  if (parts.some((part) => part === undefined)) return null;
  return JSON.parse(gunzipSync(Buffer.concat(parts.filter((part) => part !== undefined))).toString());
}

const chunk = z.object({ sk: z.string(), body: z.instanceof(Uint8Array) });
