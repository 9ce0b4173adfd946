import type { AuditFilter, AuditLog, AuditTrail } from "../../../audit/ports.ts";
import { JsonArray } from "../../../model/json-array.ts";
import type { Database } from "../client/client.ts";
import { commit } from "../commit.ts";
import { getPlain, type Place, queryPlain } from "../read-plain.ts";
import { type ListedEntry, type RememberedEntries, rememberedEntries } from "../remembered-entries.ts";
import { oldestKept, readCounter } from "./audit-bounds.ts";
import { readEntry, readListed } from "./audit-item.ts";
import { COUNTER, partition, sequenceKey } from "./audit-keys.ts";

/** The audit log in DynamoDB. Entries past their days are left out of pages and totals before DynamoDB deletes them. */
export function auditLog(database: Database, now: () => Date): AuditLog & AuditTrail {
  const remembered = rememberedEntries();
  return {
    append: (entry) => commit(database, { writes: [], audit: [entry], events: [] }),

    page: async (filter, slice) => {
      const asked = { workspaceId: filter.workspaceId, pk: partition(filter), ...slice, at: now() };
      const { entries, total } = await readPage(database, remembered, asked);
      return { rows: new JsonArray(`[${entries.join(",")}]`), total };
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

interface Asked {
  readonly workspaceId: string;
  readonly pk: string;
  readonly limit: number;
  readonly offset: number;
  readonly at: Date;
}

interface Page {
  /** As lists show them, newest first. */
  readonly entries: readonly string[];
  readonly total: number;
}

async function readPage(database: Database, remembered: RememberedEntries, asked: Asked): Promise<Page> {
  const { pk, limit, offset } = asked;
  const newestPage = offset === 0 && !remembered.knows(pk) ? await readNewest(database, remembered, asked) : null;
  if (newestPage !== null) return newestPage;
  const { first, last } = await bounds(database, pk, asked.at);
  const newest = last - offset;
  const oldest = Math.max(first, newest - limit + 1);
  const listed = Array.from({ length: Math.max(0, newest - oldest + 1) }, (_, at) => remembered.read(pk, newest - at));
  const [from, to] = [listed.indexOf(undefined), listed.lastIndexOf(undefined)];
  if (from >= 0) {
    for await (const items of range(database, pk, newest - to, newest - from)) {
      for (const [sequence, text] of remember(remembered, asked, items)) listed[newest - sequence] = text;
    }
  }
  return { entries: listed.filter((text) => text !== undefined), total: last - first + 1 };
}

function remember(
  remembered: RememberedEntries,
  { workspaceId, pk }: Asked,
  items: readonly Item[],
): readonly ListedEntry[] {
  const page = items.map((item) => [Number(item["sk"]), readListed(item, workspaceId)] as const);
  remembered.add(pk, page);
  return page;
}

type Item = Readonly<Record<string, unknown>>;

/**
 * The first page in one read, where nothing of the log is known yet: the counter sorts after the entries, so it comes
 * before the newest of them. Null when the counter does not know where the kept entries begin, or the page is larger than
 * one read.
 */
async function readNewest(database: Database, remembered: RememberedEntries, asked: Asked): Promise<Page | null> {
  const { items, end } = await queryPlain(database, {
    TableName: database.table("audit"),
    KeyConditionExpression: "pk = :pk",
    values: { ":pk": asked.pk },
    ProjectionExpression: "sk, entry, entries, #first, first_expires_at",
    ExpressionAttributeNames: { "#first": "first" },
    ScanIndexForward: false,
    Limit: asked.limit + 1,
    ConsistentRead: true,
  });
  const [counterItem, ...newest] = items;
  if (counterItem === undefined) return { entries: [], total: 0 };
  const { entries, first, firstExpiresAt } = readCounter(counterItem);
  const isCut = end !== undefined && newest.length < asked.limit;
  if (firstExpiresAt <= asked.at.getTime() / 1000 || isCut) return null;
  const total = entries - first + 1;
  const listed = remember(remembered, asked, newest.slice(0, total)).map(([, text]) => text);
  return { entries: listed, total };
}

/** The sequence numbers of the oldest entry that is still kept and of the newest; `first` is `last + 1` when none is. */
async function bounds(database: Database, pk: string, at: Date): Promise<{ first: number; last: number }> {
  const key = { pk, sk: COUNTER };
  const item = await getPlain(database, { TableName: database.table("audit"), key, ConsistentRead: true });
  if (item === undefined) return { first: 1, last: 0 };
  const counted = readCounter(item);
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
      ProjectionExpression: "sk, entry",
      ScanIndexForward: false,
      Limit: ENTRIES_PER_READ,
      ConsistentRead: true,
      after,
    });
    yield items;
    after = end;
  } while (after !== undefined);
}
