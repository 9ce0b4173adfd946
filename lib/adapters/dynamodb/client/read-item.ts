import {
  GetCommand,
  paginateQuery,
  paginateScan,
  type QueryCommandInput,
  type ScanCommandInput,
} from "@aws-sdk/lib-dynamodb";
import { describeFault } from "../../../model/fault.ts";
import { writeLine } from "../../../model/log-line.ts";
import type { TableName } from "../../../model/resources.ts";
import type { Database } from "./client.ts";

type Item = Record<string, unknown>;

/** The item of this key, as last written; undefined: there is none. */
export async function readItem(database: Database, table: TableName, Key: Item): Promise<Item | undefined> {
  const asked = { TableName: database.table(table), Key, ConsistentRead: true };
  return (await database.client.send(new GetCommand(asked))).Item;
}

/** All items that a query finds, in its order, eventually consistent unless it asks otherwise. */
export async function queryAll(
  database: Database,
  table: TableName,
  asked: Omit<QueryCommandInput, "TableName">,
): Promise<readonly Item[]> {
  const found: Item[] = [];
  const pages = paginateQuery({ client: database.client }, { ...asked, TableName: database.table(table) });
  for await (const { Items = [] } of pages) found.push(...Items);
  return found;
}

/** All items of a table, or those that a filter leaves, some at a time. */
export async function* scanAll(
  database: Database,
  table: TableName,
  filter: Omit<ScanCommandInput, "TableName"> = {},
): AsyncGenerator<readonly Item[]> {
  const pages = paginateScan({ client: database.client }, { ...filter, TableName: database.table(table) });
  for await (const { Items = [] } of pages) yield Items;
}

/** What is read of items, perhaps of many workspaces: one that cannot be read is left out, and takes no other with it. */
export const readEach = <Read>(items: readonly Item[], read: (item: Item) => Read): readonly Read[] =>
  items.flatMap((item) => {
    try {
      return [read(item)];
    } catch (error) {
      const { pk, sk } = item;
      // What cannot be parsed is quoted in the error, and may be a row's value.
      const fault = error instanceof SyntaxError ? error.name : describeFault(error);
      const line = { level: "error", event: "unreadable item", pk, sk, fault };
      if (reported.size !== reported.add(`${pk} ${sk}`).size) writeLine(line);
      return [];
    }
  });

/** Items that this process has reported: one that stays is read again and again. */
const reported = new Set<string>();
