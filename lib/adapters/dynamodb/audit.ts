import { GetCommand } from "@aws-sdk/lib-dynamodb";
import type { AuditFilter, AuditLog, AuditTrail } from "../../audit/ports.ts";
import { JsonArray } from "../../model/json-array.ts";
import { oldestKept, readCounter } from "./audit-bounds.ts";
import { readEntry, readListed } from "./audit-item.ts";
import { COUNTER, partition, sequenceKey } from "./audit-keys.ts";
import type { Database } from "./client.ts";
import { commit } from "./commit.ts";
import { type Place, queryPlain } from "./query-plain.ts";

/** The audit log in DynamoDB. Entries past their days are left out of pages and totals before DynamoDB deletes them. */
export function auditLog(database: Database, now: () => Date): AuditLog & AuditTrail {
  return {
    append: (entry) => commit(database, { writes: [], audit: [entry], events: [] }),

    page: async (filter, slice) => {
      const { items, total } = await readPage(database, partition(filter), slice, now());
      return { rows: new JsonArray(`[${items.map((item) => readListed(item, filter.workspaceId)).join(",")}]`), total };
    },

    batches: async function* (filter: AuditFilter, { limit, offset }) {
      const pk = partition(filter);
      const { first, last } = await bounds(database, pk, now());
      const newest = last - offset;
      const oldest = limit === null ? first : Math.max(first, newest - limit + 1);
      if (newest < oldest) return;
      for await (const items of range(database, pk, oldest, newest)) yield items.map(readEntry);
    },
  };
}

async function readPage(
  database: Database,
  pk: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
  at: Date,
): Promise<Page> {
  const newestPage = offset === 0 ? await readNewest(database, pk, limit, at) : null;
  if (newestPage !== null) return newestPage;
  const { first, last } = await bounds(database, pk, at);
  const newest = last - offset;
  const oldest = Math.max(first, newest - limit + 1);
  const items: Item[] = [];
  if (newest >= first) for await (const batch of range(database, pk, oldest, newest)) items.push(...batch);
  return { items, total: last - first + 1 };
}

type Item = Readonly<Record<string, unknown>>;

interface Page {
  readonly items: readonly Item[];
  readonly total: number;
}

/**
 * The first page in one read: the counter sorts after the entries, so it comes before the newest of them. Null when the
 * counter does not know where the kept entries begin, or the page is larger than one read.
 */
async function readNewest(database: Database, pk: string, limit: number, at: Date): Promise<Page | null> {
  const { items, end } = await queryPlain(database, {
    TableName: database.table("audit"),
    KeyConditionExpression: "pk = :pk",
    values: { ":pk": pk },
    ProjectionExpression: "entry, entries, #first, first_expires_at",
    ExpressionAttributeNames: { "#first": "first" },
    ScanIndexForward: false,
    Limit: limit + 1,
    ConsistentRead: true,
  });
  const [counterItem, ...newest] = items;
  if (counterItem === undefined) return { items: [], total: 0 };
  const { entries, first, firstExpiresAt } = readCounter(counterItem);
  const isCut = end !== undefined && newest.length < limit;
  if (firstExpiresAt <= at.getTime() / 1000 || isCut) return null;
  const total = entries - first + 1;
  return { items: newest.slice(0, total), total };
}

/** The sequence numbers of the oldest entry that is still kept and of the newest; `first` is `last + 1` when none is. */
async function bounds(database: Database, pk: string, at: Date): Promise<{ first: number; last: number }> {
  const Key = { pk, sk: COUNTER };
  const { Item } = await database.client.send(
    new GetCommand({ TableName: database.table("audit"), Key, ConsistentRead: true }),
  );
  if (Item === undefined) return { first: 1, last: 0 };
  const counted = readCounter(Item);
  const oldest = await oldestKept(database, pk, counted, at);
  return { first: oldest?.sequence ?? counted.entries + 1, last: counted.entries };
}

/** Entries of one read: a long log goes by in pieces of some hundred kilobytes, not of DynamoDB's megabyte. */
const ENTRIES_PER_READ = 500;

async function* range(database: Database, pk: string, oldest: number, newest: number): AsyncGenerator<readonly Item[]> {
  let after: Place | undefined;
  do {
    const { items, end } = await queryPlain(database, {
      TableName: database.table("audit"),
      KeyConditionExpression: "pk = :pk AND sk BETWEEN :oldest AND :newest",
      values: { ":pk": pk, ":oldest": sequenceKey(oldest), ":newest": sequenceKey(newest) },
      ProjectionExpression: "entry",
      ScanIndexForward: false,
      Limit: ENTRIES_PER_READ,
      ConsistentRead: true,
      after,
    });
    yield items;
    after = end;
  } while (after !== undefined);
}
