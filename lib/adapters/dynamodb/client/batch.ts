import {
  BatchExecuteStatementCommand,
  BatchGetCommand,
  BatchWriteCommand,
  type BatchWriteCommandInput,
} from "@aws-sdk/lib-dynamodb";
import { chunks } from "../../../model/chunks.ts";
import type { TableName } from "../../../model/resources.ts";
import type { Database } from "./client.ts";
import { jitteredPause } from "./transact.ts";

type Item = Record<string, unknown>;
type Request = NonNullable<BatchWriteCommandInput["RequestItems"]>[string][number];

/** DynamoDB takes at most 100 keys in one read and 25 items in one write. */
const KEYS = 100;
const REQUESTS = 25;

const ATTEMPTS = 8;

/** The items that exist of these keys, in no order, as last written by default. */
export async function readItems(
  database: Database,
  table: TableName,
  keys: readonly Item[],
  how = { ConsistentRead: true },
): Promise<Item[]> {
  return (await Promise.all(chunks(keys, KEYS).map((chunk) => readChunk(database, table, chunk, how)))).flat();
}

/** Puts items without conditions, each of them for itself. */
export const putItems = (database: Database, table: TableName, items: readonly Item[]): Promise<void> =>
  writeItems(database, table, (Item) => ({ PutRequest: { Item } }), items);

/** Deletes the items of these keys, each of them for itself. */
export const deleteItems = (database: Database, table: TableName, keys: readonly Item[]): Promise<void> =>
  writeItems(database, table, (Key) => ({ DeleteRequest: { Key } }), keys);

async function writeItems(database: Database, table: TableName, ask: (of: Item) => Request, all: readonly Item[]) {
  await Promise.all(chunks(all, REQUESTS).map((chunk) => writeChunk(database, table, chunk.map(ask))));
}

/**
 * Puts items that are not there yet; one that is stays as it is. As PartiQL statements they go 25 a call, each for
 * itself, and cost what single conditional puts cost.
 */
export async function insertItems(database: Database, table: TableName, items: readonly Item[]): Promise<void> {
  await Promise.all(chunks(items, REQUESTS).map((chunk) => insertChunk(database, table, chunk)));
}

async function insertChunk(database: Database, table: TableName, items: Item[]): Promise<void> {
  const name = database.table(table);
  let reasons: readonly string[] = [];
  const insert = async (left: Item[]) => {
    const Statements = left.map((item) => insertStatement(name, item));
    const { Responses = [] } = await database.client.send(new BatchExecuteStatementCommand({ Statements }));
    const failed = Responses.map(({ Error: error }) => (error?.Code === DUPLICATE ? undefined : error?.Code));
    reasons = [...new Set(failed.filter((code) => code !== undefined))];
    return left.filter((_, at) => failed[at] !== undefined);
  };
  await untilNoneIsLeft(items, insert, () => `inserted into ${name} (${reasons.join(", ")})`);
}

const DUPLICATE = "DuplicateItem";

function insertStatement(table: string, item: Item) {
  const names = Object.keys(item);
  const fields = names.map((name) => `'${name}': ?`).join(", ");
  return { Statement: `INSERT INTO "${table}" VALUE {${fields}}`, Parameters: names.map((name) => item[name]) };
}

async function readChunk(
  database: Database,
  table: TableName,
  keys: Item[],
  how: { readonly ConsistentRead: boolean },
): Promise<Item[]> {
  const name = database.table(table);
  const found: Item[] = [];
  const read = async (left: Item[]) => {
    const RequestItems = { [name]: { Keys: left, ...how } };
    const { Responses, UnprocessedKeys } = await database.client.send(new BatchGetCommand({ RequestItems }));
    found.push(...(Responses?.[name] ?? []));
    return UnprocessedKeys?.[name]?.Keys ?? [];
  };
  await untilNoneIsLeft(keys, read, () => `read from ${name}`);
  return found;
}

async function writeChunk(database: Database, table: TableName, requests: Request[]): Promise<void> {
  const name = database.table(table);
  const write = async (left: Request[]) => {
    const answer = await database.client.send(new BatchWriteCommand({ RequestItems: { [name]: left } }));
    return answer.UnprocessedItems?.[name] ?? [];
  };
  await untilNoneIsLeft(requests, write, () => `written to ${name}`);
}

/** Calls again for the entries that a call gives back as not done. */
async function untilNoneIsLeft<Entry>(
  entries: Entry[],
  call: (left: Entry[]) => Promise<Entry[]>,
  done: () => string,
): Promise<void> {
  let left = await call(entries);
  for (let attempt = 1; left.length > 0; attempt += 1) {
    if (attempt === ATTEMPTS) throw new Error(`${left.length} items were not ${done()} in ${ATTEMPTS} attempts`);
    await jitteredPause(attempt);
    left = await call(left);
  }
}
