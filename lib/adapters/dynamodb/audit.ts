import { GetCommand, QueryCommand, type QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { AuditFilter, AuditLog, AuditTrail } from "../../audit/ports.ts";
import type { AuditEntry } from "../../model/audit.ts";
import { readEntry } from "./audit-item.ts";
import { COUNTER, partition, sequenceKey } from "./audit-keys.ts";
import type { Database } from "./client.ts";
import { commit } from "./commit.ts";

/** The audit log in DynamoDB. Entries past their days are left out of pages and totals before DynamoDB deletes them. */
export function auditLog(database: Database, now: () => Date): AuditLog & AuditTrail {
  return {
    append: (entry) => commit(database, { writes: [], audit: [entry], events: [] }),

    page: async (filter, { limit, offset }) => {
      const pk = partition(filter);
      const { first, last } = await bounds(database, pk, now());
      const total = last - first + 1;
      const newest = last - offset;
      const oldest = Math.max(first, newest - limit + 1);
      const entries: AuditEntry[] = [];
      if (newest >= first) for await (const batch of range(database, pk, oldest, newest)) entries.push(...batch);
      return { entries, total };
    },

    batches: async function* (filter: AuditFilter, { limit, offset }) {
      const pk = partition(filter);
      const { first, last } = await bounds(database, pk, now());
      const newest = last - offset;
      const oldest = limit === null ? first : Math.max(first, newest - limit + 1);
      if (newest >= oldest) yield* range(database, pk, oldest, newest);
    },
  };
}

interface Bounds {
  readonly first: number;
  readonly last: number;
}

/** The sequence numbers of the oldest entry that is still kept and of the newest; `first` is `last + 1` when none is. */
async function bounds(database: Database, pk: string, at: Date): Promise<Bounds> {
  const [last, oldest] = await Promise.all([readCount(database, pk), readOldest(database, pk)]);
  if (oldest === null) return { first: last + 1, last };
  if (oldest.expiresAt > at) return { first: oldest.sequence, last };
  return { first: await firstKept(database, pk, oldest.sequence + 1, last + 1, at), last };
}

/** Entries expire in the order of their numbers, so the first kept one is found by halving. */
async function firstKept(database: Database, pk: string, from: number, to: number, at: Date): Promise<number> {
  if (from >= to) return to;
  const middle = Math.floor((from + to) / 2);
  const key = { pk, sk: sequenceKey(middle) };
  const { Item } = await database.client.send(new GetCommand({ TableName: database.table("audit"), Key: key }));
  const kept = Item !== undefined && expiry.parse(Item).expires_at > at;
  return kept ? firstKept(database, pk, from, middle, at) : firstKept(database, pk, middle + 1, to, at);
}

const seconds = z.pipe(
  z.number(),
  z.transform((value: number) => new Date(value * 1000)),
);
const expiry = z.object({ sk: z.string(), expires_at: seconds });
const counter = z.object({ entries: z.number() });

async function readCount(database: Database, pk: string): Promise<number> {
  const { Item } = await database.client.send(
    new GetCommand({ TableName: database.table("audit"), Key: { pk, sk: COUNTER }, ConsistentRead: true }),
  );
  return Item === undefined ? 0 : counter.parse(Item).entries;
}

async function readOldest(
  database: Database,
  pk: string,
): Promise<{ readonly sequence: number; readonly expiresAt: Date } | null> {
  const answer = await database.client.send(
    new QueryCommand({ ...entriesOf(database, pk, 1, 999_999_999_999), ScanIndexForward: true, Limit: 1 }),
  );
  const item = answer.Items?.[0];
  if (item === undefined) return null;
  const { sk, expires_at } = expiry.parse(item);
  return { sequence: Number(sk), expiresAt: expires_at };
}

async function* range(
  database: Database,
  pk: string,
  oldest: number,
  newest: number,
): AsyncGenerator<readonly AuditEntry[]> {
  let from: Record<string, unknown> | undefined;
  do {
    const answer = await database.client.send(
      new QueryCommand({
        ...entriesOf(database, pk, oldest, newest),
        ScanIndexForward: false,
        ...(from === undefined ? {} : { ExclusiveStartKey: from }),
      }),
    );
    yield (answer.Items ?? []).map(readEntry);
    from = answer.LastEvaluatedKey;
  } while (from !== undefined);
}

function entriesOf(database: Database, pk: string, oldest: number, newest: number): QueryCommandInput {
  return {
    TableName: database.table("audit"),
    KeyConditionExpression: "pk = :pk AND sk BETWEEN :oldest AND :newest",
    ExpressionAttributeValues: { ":pk": pk, ":oldest": sequenceKey(oldest), ":newest": sequenceKey(newest) },
    ConsistentRead: true,
  };
}
