import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import { toCamelCase } from "../../../model/snake-case.ts";
import { readItems } from "../client/batch.ts";
import type { Database } from "../client/client.ts";
import { readItem } from "../client/read-item.ts";
import { COUNTER, sequenceKey } from "./audit-keys.ts";

/** What a partition's counter item says. */
export interface Counted {
  /** The newest entry's sequence number; 0 before the first. */
  readonly entries: number;
  /** The oldest entry that was kept when the counter was last written, and when it expires, in epoch seconds. */
  readonly first: number;
  readonly firstExpiresAt: number;
  /** When the newest one expires; versions up to 0.2 kept none. */
  readonly lastExpiresAt: number;
}

const counter = z.object({
  entries: z.number(),
  first: z.number(),
  first_expires_at: z.number(),
  last_expires_at: z._default(z.number(), 0),
});

/** A counter as it is kept. */
export const readCounter = (stored: Readonly<Record<string, unknown>>): Counted =>
  toCamelCase(counter, counter.parse(stored));

/** The counter items of partitions; a partition without entries has none. */
export async function readCounters(
  database: Database,
  partitions: readonly string[],
): Promise<ReadonlyMap<string, Counted>> {
  const keys = partitions.map((pk) => ({ pk, sk: COUNTER }));
  const items = await readItems(database, "audit", keys);
  return new Map(items.map((item) => [String(item["pk"]), readCounter(item)]));
}

/** An entry's place and when it expires, in epoch seconds. */
interface Placed {
  readonly sequence: number;
  readonly expiresAt: number;
}

/** The oldest entry that is kept at a time; null when none is. What the counter knows needs no further look. */
export async function oldestKept(database: Database, pk: string, counted: Counted, at: Date): Promise<Placed | null> {
  const seconds = at.getTime() / 1000;
  if (counted.firstExpiresAt > seconds) return { sequence: counted.first, expiresAt: counted.firstExpiresAt };
  const oldest = await readOldest(database, pk, counted.first);
  if (oldest === null || oldest.expiresAt > seconds) return oldest;
  // Entries expire in the order of their numbers.
  const isKept = (item: Item) => (placed(item)?.expiresAt ?? 0) > seconds;
  const first = await firstThat(database, pk, oldest.sequence + 1, counted.entries + 1, isKept);
  return placed(await readItem(database, "audit", { pk, sk: sequenceKey(first) }));
}

type Item = Record<string, unknown>;

/** The first number from `from` on whose entry is so, as are all after it, found by halving; `end`: none before it is. */
export async function firstThat(
  database: Database,
  pk: string,
  from: number,
  end: number,
  isSo: (item: Item) => boolean,
): Promise<number> {
  let [first, last] = [from, end];
  while (first < last) {
    const middle = Math.floor((first + last) / 2);
    const item = await readItem(database, "audit", { pk, sk: sequenceKey(middle) });
    if (item !== undefined && isSo(item)) last = middle;
    else first = middle + 1;
  }
  return first;
}

const placedItem = z.object({ sk: z.string(), expires_at: z.number() });

function placed(item: Item | undefined): Placed | null {
  if (item === undefined) return null;
  const { sk, expires_at } = placedItem.parse(item);
  return { sequence: Number(sk), expiresAt: expires_at };
}

async function readOldest(database: Database, pk: string, from: number): Promise<Placed | null> {
  const { Items } = await database.client.send(
    new QueryCommand({
      TableName: database.table("audit"),
      KeyConditionExpression: "pk = :pk AND sk BETWEEN :from AND :to",
      ExpressionAttributeValues: { ":pk": pk, ":from": sequenceKey(from), ":to": sequenceKey(999_999_999_999) },
      ScanIndexForward: true,
      Limit: 1,
      ConsistentRead: true,
    }),
  );
  return placed(Items?.[0]);
}
