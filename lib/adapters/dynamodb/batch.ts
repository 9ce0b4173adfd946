import { BatchGetCommand, BatchWriteCommand, type BatchWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import type { TableName } from "../../model/resources.ts";
import type { Database } from "./client.ts";
import { jitteredPause } from "./transact.ts";

type Item = Record<string, unknown>;
type Request = NonNullable<BatchWriteCommandInput["RequestItems"]>[string][number];

/** DynamoDB takes at most 100 keys in one read and 25 items in one write. */
const KEYS = 100;
const REQUESTS = 25;

const ATTEMPTS = 8;

/** The items that exist of these keys, as last written, in no order. */
export async function readItems(database: Database, table: TableName, keys: readonly Item[]): Promise<Item[]> {
  return (await Promise.all(inChunks(keys, KEYS).map((chunk) => readChunk(database, table, chunk)))).flat();
}

/** Puts and deletes without conditions, each of them for itself. */
export async function writeItems(database: Database, table: TableName, requests: readonly Request[]): Promise<void> {
  await Promise.all(inChunks(requests, REQUESTS).map((chunk) => writeChunk(database, table, chunk)));
}

async function readChunk(database: Database, table: TableName, keys: Item[]): Promise<Item[]> {
  const name = database.table(table);
  const found: Item[] = [];
  let left: Item[] = keys;
  for (let attempt = 1; left.length > 0; attempt += 1) {
    const answer = await database.client.send(
      new BatchGetCommand({ RequestItems: { [name]: { Keys: left, ConsistentRead: true } } }),
    );
    found.push(...(answer.Responses?.[name] ?? []));
    left = answer.UnprocessedKeys?.[name]?.Keys ?? [];
    if (left.length > 0) await pauseOrFail(attempt, `read ${left.length} items of ${name}`);
  }
  return found;
}

async function writeChunk(database: Database, table: TableName, requests: Request[]): Promise<void> {
  const name = database.table(table);
  let left: Request[] = requests;
  for (let attempt = 1; left.length > 0; attempt += 1) {
    const answer = await database.client.send(new BatchWriteCommand({ RequestItems: { [name]: left } }));
    left = answer.UnprocessedItems?.[name] ?? [];
    if (left.length > 0) await pauseOrFail(attempt, `write ${left.length} items of ${name}`);
  }
}

async function pauseOrFail(attempt: number, what: string): Promise<void> {
  if (attempt === ATTEMPTS) throw new Error(`DynamoDB did not ${what} in ${ATTEMPTS} attempts: the table is throttled`);
  await jitteredPause(attempt);
}

function inChunks<Entry>(entries: readonly Entry[], size: number): Entry[][] {
  const count = Math.ceil(entries.length / size);
  return Array.from({ length: count }, (_, at) => entries.slice(at * size, (at + 1) * size));
}
