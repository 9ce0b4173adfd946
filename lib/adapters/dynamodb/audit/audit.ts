import { GetCommand, QueryCommand, type QueryCommandOutput } from "@aws-sdk/lib-dynamodb";
import type { AuditFilter, AuditLog, AuditTrail } from "../../../audit/ports.ts";
import { JsonArray } from "../../../model/json-array.ts";
import type { Database } from "../client/client.ts";
import { commit } from "../commit.ts";
import { oldestKept, readCounter } from "./audit-bounds.ts";
import { readEntry, readListed } from "./audit-item.ts";
import { COUNTER, partition, sequenceKey } from "./audit-keys.ts";

/** The audit log in DynamoDB. Entries past their days are left out of pages and totals before DynamoDB deletes them. */
export function auditLog(database: Database, now: () => Date): AuditLog & AuditTrail {
  return {
    append: (entry) => commit(database, { writes: [], audit: [entry], events: [] }),

    page: async (filter, slice) => {
      const { first, last, pieces } = await read(database, filter, slice, now());
      const rows: string[] = [];
      for await (const items of pieces) rows.push(...items.map((item) => readListed(item, filter.workspaceId)));
      return { rows: new JsonArray(`[${rows.join(",")}]`), total: last - first + 1 };
    },

    batches: async function* (filter, slice) {
      const { pieces } = await read(database, filter, slice, now());
      for await (const items of pieces) yield items.map(readEntry);
    },
  };
}

type Item = Readonly<Record<string, unknown>>;

interface Slice {
  /** Null: up to the oldest entry. */
  readonly limit: number | null;
  readonly offset: number;
}

/** The numbers of the oldest and the newest entry that are kept, and the items of a slice of them, newest first. */
async function read(database: Database, filter: AuditFilter, { limit, offset }: Slice, at: Date) {
  const pk = partition(filter);
  const { first, last } = await bounds(database, pk, at);
  const newest = last - offset;
  const oldest = limit === null ? first : Math.max(first, newest - limit + 1);
  return { first, last, pieces: range(database, pk, oldest, newest) };
}

/** The sequence numbers of the oldest entry that is still kept and of the newest; `first` is `last + 1` when none is. */
async function bounds(database: Database, pk: string, at: Date): Promise<{ first: number; last: number }> {
  const { Item } = await database.client.send(
    new GetCommand({ TableName: database.table("audit"), Key: { pk, sk: COUNTER }, ConsistentRead: true }),
  );
  if (Item === undefined) return { first: 1, last: 0 };
  const counted = readCounter(Item);
  const oldest = await oldestKept(database, pk, counted, at);
  return { first: oldest?.sequence ?? counted.entries + 1, last: counted.entries };
}

/** Entries of one read: a long log goes by in pieces of some hundred kilobytes, not of DynamoDB's megabyte. */
const ENTRIES_PER_READ = 500;

async function* range(database: Database, pk: string, oldest: number, newest: number): AsyncGenerator<readonly Item[]> {
  let after: Item | undefined;
  while (oldest <= newest) {
    const { Items = [], LastEvaluatedKey }: QueryCommandOutput = await database.client.send(
      new QueryCommand({
        TableName: database.table("audit"),
        KeyConditionExpression: "pk = :pk AND sk BETWEEN :oldest AND :newest",
        ExpressionAttributeValues: { ":pk": pk, ":oldest": sequenceKey(oldest), ":newest": sequenceKey(newest) },
        ProjectionExpression: "entry",
        ScanIndexForward: false,
        Limit: ENTRIES_PER_READ,
        ConsistentRead: true,
        ExclusiveStartKey: after,
      }),
    );
    yield Items;
    if (LastEvaluatedKey === undefined) return;
    after = LastEvaluatedKey;
  }
}
