import { paginateQuery } from "@aws-sdk/lib-dynamodb";
import type { AuditFilter, AuditLog, AuditTrail } from "../../audit/ports.ts";
import { unknownCursor } from "../../model/page.ts";
import type { ListedEntry } from "../../model/workspace/audit.ts";
import { firstThat, oldestKept, readCounter } from "./audit/audit-bounds.ts";
import { readListed } from "./audit/audit-item.ts";
import { partition, placeOfId, sequenceKey } from "./audit/audit-keys.ts";
import type { Database } from "./client/client.ts";
import { commit } from "./commit.ts";

/** The audit log in DynamoDB. Entries past their days are left out of pages and totals before DynamoDB deletes them. */
export function auditLog(database: Database, now: () => Date): AuditLog & AuditTrail {
  return {
    append: (entry) => commit(database, { writes: [], audit: [entry], events: [] }),

    page: async (filter, slice) => {
      const { first, last, pieces } = await read(database, filter, slice, now());
      const rows: ListedEntry[] = [];
      for await (const entries of pieces) rows.push(...entries);
      return { rows, total: last - first + 1 };
    },

    batches: async (filter, slice) => (await read(database, filter, slice, now())).pieces,
  };
}

/** Limit null: up to the oldest entry. */
type Slice = Parameters<AuditLog["batches"]>[1];

/** The numbers of the oldest and the newest entry that are kept, and a slice of the entries, newest first. */
async function read(database: Database, filter: AuditFilter, { limit, offset, beforeId }: Slice, at: Date) {
  const pk = partition(filter);
  const kept = await bounds(database, pk, at);
  const placeOf = (time: Date | undefined, otherwise: number) =>
    time === undefined ? otherwise : firstSince(database, pk, kept, time);
  const [first, end] = await Promise.all([placeOf(filter.from, kept.first), placeOf(filter.to, kept.last + 1)]);
  const last = Math.max(first, end) - 1;
  const before = beforeId === undefined ? last + 1 : await placeOfEntry(database, filter, kept, beforeId);
  const newest = Math.min(last, before - 1) - offset;
  const oldest = limit === null ? first : Math.max(first, newest - limit + 1);
  return { first, last, pieces: range(database, pk, oldest, newest) };
}

interface Bounds {
  readonly first: number;
  readonly last: number;
}

/** Entries that were written at once may be in another order than their times, by as much as a request takes. */
const DISORDER_MILLISECONDS = 120_000;

/** The number of the first entry of that time or later: found by halving up to where the order is sure, then one by one. */
async function firstSince(database: Database, pk: string, { first, last }: Bounds, time: Date): Promise<number> {
  const sure = new Date(time.getTime() - DISORDER_MILLISECONDS);
  const isSince = ({ created_at }: ListedEntry, start: Date) => new Date(created_at) >= start;
  const near = await firstThat(database, pk, first, last + 1, (item) => isSince(readListed(item), sure));
  const from = near === undefined ? last + 1 : Number(near["sk"]);
  const passed = await countUntil(range(database, pk, from, last, true), (entry) => isSince(entry, time));
  return passed === null ? last + 1 : from + passed;
}

/**
 * The number of an entry among those of a filter. One whose id does not say it is looked for from the newest on; one that
 * has expired had a lower number than all that are kept.
 */
async function placeOfEntry(database: Database, filter: AuditFilter, { first, last }: Bounds, id: string) {
  const said = placeOfId(id, filter);
  if (said !== null && said < first) return said;
  const [oldest, newest] = said === null ? [first, last] : [said, said];
  const passed = await countUntil(range(database, partition(filter), oldest, newest), (entry) => entry.id === id);
  if (passed === null) throw unknownCursor("the audit log, filtered like this, has");
  return newest - passed;
}

/** How many entries come before the first that is so; null: none is. */
async function countUntil(
  pieces: AsyncIterable<readonly ListedEntry[]>,
  isSo: (entry: ListedEntry) => boolean,
): Promise<number | null> {
  let passed = 0;
  for await (const entries of pieces) {
    const at = entries.findIndex(isSo);
    if (at !== -1) return passed + at;
    passed += entries.length;
  }
  return null;
}

/** The sequence numbers of the oldest entry that is still kept and of the newest; `first` is `last + 1` when none is. */
async function bounds(database: Database, pk: string, at: Date): Promise<Bounds> {
  const counted = await readCounter(database, pk);
  const oldest = await oldestKept(database, pk, counted, at);
  return { first: oldest?.first ?? counted.entries + 1, last: counted.entries };
}

/** Entries of one read: a long log goes by in pieces of some hundred kilobytes, not of DynamoDB's megabyte. */
const ENTRIES_PER_READ = 500;

/** The entries of a range of numbers, newest first unless said otherwise. */
async function* range(
  database: Database,
  pk: string,
  oldest: number,
  newest: number,
  forward = false,
): AsyncGenerator<readonly ListedEntry[]> {
  if (oldest > newest) return; // DynamoDB refuses a range that ends before it begins
  const asked = {
    TableName: database.table("audit"),
    KeyConditionExpression: "pk = :pk AND sk BETWEEN :oldest AND :newest",
    ExpressionAttributeValues: { ":pk": pk, ":oldest": sequenceKey(oldest), ":newest": sequenceKey(newest) },
    ProjectionExpression: "entry",
    ScanIndexForward: forward,
    ConsistentRead: true,
  };
  const pages = paginateQuery({ client: database.client, pageSize: ENTRIES_PER_READ }, asked);
  for await (const { Items = [] } of pages) yield Items.map(readListed);
}
