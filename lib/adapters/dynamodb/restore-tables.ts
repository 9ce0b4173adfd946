import { paginateScan } from "@aws-sdk/lib-dynamodb";
import { TABLES, type TableName } from "../../model/resources.ts";
import { deleteItems, putItems, readItems } from "./client/batch.ts";
import type { Database } from "./client/client.ts";

/**
 * Makes each table hold what the one holds that AWS has restored of it under another name, page by page. Names, indexes
 * and settings of the tables stay. Nothing is written where one of the restored tables is missing. Gives the items of each.
 */
export async function restoreTables(database: Database, restored: Database): Promise<ReadonlyMap<TableName, number>> {
  const names = Object.keys(TABLES) as TableName[];
  for (const name of names) for await (const _ of pagesOf(restored, name)) break;
  const counts = new Map<TableName, number>();
  for (const name of names) {
    for await (const items of pagesOf(restored, name)) {
      await putItems(database, name, items);
      counts.set(name, (counts.get(name) ?? 0) + items.length);
    }
    for await (const items of pagesOf(database, name)) await deleteMissing(database, restored, name, items);
  }
  return counts;
}

type Item = Record<string, unknown>;

async function* pagesOf({ client, table }: Database, name: TableName): AsyncGenerator<Item[]> {
  for await (const { Items = [] } of paginateScan({ client }, { TableName: table(name), ConsistentRead: true }))
    yield Items;
}

async function deleteMissing(database: Database, restored: Database, name: TableName, items: readonly Item[]) {
  const keyOf = ({ pk, sk }: Item) => (TABLES[name].sorted ? { pk, sk } : { pk });
  const textOf = (item: Item) => JSON.stringify(keyOf(item));
  const kept = new Set((await readItems(restored, name, items.map(keyOf))).map(textOf));
  await deleteItems(database, name, items.filter((item) => !kept.has(textOf(item))).map(keyOf));
}
