import { type AttributeValue, QueryCommand, type QueryCommandInput } from "@aws-sdk/client-dynamodb";
import type { Database } from "./client.ts";

/** A Query by texts; `after` is where the last answer ended. */
type Asked = Omit<QueryCommandInput, "TableName" | "ExpressionAttributeValues" | "ExclusiveStartKey"> & {
  readonly TableName: string;
  readonly values: Readonly<Record<string, string>>;
  readonly after?: Place | undefined;
};

/** Where an answer ended. */
export type Place = Record<string, AttributeValue>;

/** What a Query gave. */
export interface PlainPage {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly count: number;
  /** Undefined: nothing comes after these items. */
  readonly end: Place | undefined;
}

/**
 * Items whose attributes are texts and numbers alone, as pages of lists have many, read in turn. The document client,
 * which knows sets and lists as well, makes three times the garbage of them.
 */
export async function queryPlain(database: Database, { values, after, ...asked }: Asked): Promise<PlainPage> {
  const query = new QueryCommand({
    ...asked,
    ExpressionAttributeValues: Object.fromEntries(Object.entries(values).map(([name, S]) => [name, { S }])),
    ...(after === undefined ? {} : { ExclusiveStartKey: after }),
  });
  const answer = await database.readPage(query);
  return { items: (answer.Items ?? []).map(plain), count: answer.Count ?? 0, end: answer.LastEvaluatedKey };
}

function plain(item: Readonly<Record<string, AttributeValue>>): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const name in item) made[name] = item[name]?.S ?? Number(item[name]?.N);
  return made;
}
