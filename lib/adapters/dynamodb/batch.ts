import {
  BatchExecuteStatementCommand,
  BatchGetCommand,
  BatchWriteCommand,
  type BatchWriteCommandInput,
} from "@aws-sdk/lib-dynamodb";
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

/**
 * Puts items that are not there yet; one that is stays as it is. As PartiQL statements they go 25 a call, each for
 * itself, and cost what single conditional puts cost.
 */
export async function insertItems(database: Database, table: TableName, items: readonly Item[]): Promise<void> {
  await Promise.all(inChunks(items, REQUESTS).map((chunk) => insertChunk(database, table, chunk)));
}

async function insertChunk(database: Database, table: TableName, items: Item[]): Promise<void> {
  const name = database.table(table);
  let left: Item[] = items;
  for (let attempt = 1; left.length > 0; attempt += 1) {
    const Statements = left.map((item) => insertStatement(name, item));
    const { Responses = [] } = await database.client.send(new BatchExecuteStatementCommand({ Statements }));
    const failed = Responses.map((response) => response.Error?.Code).map((code) =>
      code === DUPLICATE ? undefined : code,
    );
    left = left.filter((_, at) => failed[at] !== undefined);
    const reasons = [...new Set(failed.filter((code) => code !== undefined))].join(", ");
    if (left.length > 0) await pauseOrFail(attempt, `insert ${left.length} items into ${name} (${reasons})`);
  }
}

const DUPLICATE = "DuplicateItem";

function insertStatement(table: string, item: Item) {
  const names = Object.keys(item);
  const fields = names.map((name) => `'${name}': ?`).join(", ");
  return { Statement: `INSERT INTO "${table}" VALUE {${fields}}`, Parameters: names.map((name) => item[name]) };
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
  if (attempt === ATTEMPTS) throw new Error(`DynamoDB did not ${what} in ${ATTEMPTS} attempts`);
  await jitteredPause(attempt);
}

function inChunks<Entry>(entries: readonly Entry[], size: number): Entry[][] {
  const count = Math.ceil(entries.length / size);
  return Array.from({ length: count }, (_, at) => entries.slice(at * size, (at + 1) * size));
}
