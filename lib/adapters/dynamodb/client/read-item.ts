import { GetCommand, paginateQuery, type QueryCommandInput } from "@aws-sdk/lib-dynamodb";
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
