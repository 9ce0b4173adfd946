import type { AttributeValue, GetItemCommandInput, QueryCommandInput } from "@aws-sdk/client-dynamodb";
import type { Database } from "./client/client.ts";

type Texts = Readonly<Record<string, string>>;

/** A Query by texts; `after` is where the last answer ended. */
type Asked = Omit<QueryCommandInput, "TableName" | "ExpressionAttributeValues" | "ExclusiveStartKey"> & {
  readonly TableName: string;
  readonly values: Texts;
  readonly after?: Place | undefined;
};

/** Where an answer ended. */
export type Place = Record<string, AttributeValue>;

type PlainItem = Readonly<Record<string, unknown>>;

/** What a Query gave. */
export interface PlainPage {
  readonly items: readonly PlainItem[];
  readonly count: number;
  /** Undefined: nothing comes after these items. */
  readonly end: Place | undefined;
}

/**
 * Items whose attributes are texts and numbers alone, as pages of lists have many, read in turn. The document client,
 * which knows sets and lists as well, makes three times the garbage of them.
 */
export async function queryPlain(database: Database, { values, after, ...asked }: Asked): Promise<PlainPage> {
  const answer = await database.readPage({
    ...asked,
    ExpressionAttributeValues: written(values),
    ...(after === undefined ? {} : { ExclusiveStartKey: after }),
  });
  return { items: (answer.Items ?? []).map(plain), count: answer.Count ?? 0, end: answer.LastEvaluatedKey };
}

/** One such item by its key, a text in each attribute; undefined when there is none. */
export async function getPlain(
  database: Database,
  { key, ...asked }: Omit<GetItemCommandInput, "Key"> & { readonly key: Texts },
): Promise<PlainItem | undefined> {
  const { Item } = await database.readItem({ ...asked, Key: written(key) });
  return Item && plain(Item);
}

const written = (texts: Texts): Record<string, AttributeValue> =>
  Object.fromEntries(Object.entries(texts).map(([name, S]) => [name, { S }]));

function plain(item: Readonly<Record<string, AttributeValue>>): PlainItem {
  const made: Record<string, unknown> = {};
  for (const name in item) made[name] = item[name]?.S ?? Number(item[name]?.N);
  return made;
}
