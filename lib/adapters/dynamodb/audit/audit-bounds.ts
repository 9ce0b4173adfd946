import * as z from "zod/mini";
import { type CamelCased, toCamelCase } from "../../../model/snake-case.ts";
import { readItems } from "../client/batch.ts";
import type { Database } from "../client/client.ts";
import { readItem } from "../client/read-item.ts";
import { COUNTER, sequenceKey } from "./audit-keys.ts";

const counter = z.object({
  /** The newest entry's sequence number. */
  entries: z._default(z.number(), 0),
  /** The oldest entry that was kept when the counter was last written, and when it expires, in epoch seconds. */
  first: z._default(z.number(), 1),
  first_expires_at: z._default(z.number(), 0),
  /** When the newest one expires; versions up to 0.2 kept none. */
  last_expires_at: z._default(z.number(), 0),
});

/** What a partition's counter item says; before the first entry there is no item. */
export type Counted = CamelCased<typeof counter>;

const counted = (stored: Item | undefined): Counted => toCamelCase(counter, counter.parse(stored ?? {}));

export async function readCounter(database: Database, pk: string): Promise<Counted> {
  return counted(await readItem(database, "audit", { pk, sk: COUNTER }));
}

/** The counters of several partitions, by one request. */
export async function readCounters(
  database: Database,
  partitions: readonly string[],
): Promise<ReadonlyMap<string, Counted>> {
  const keys = partitions.map((pk) => ({ pk, sk: COUNTER }));
  const items = await readItems(database, "audit", keys);
  return new Map(partitions.map((pk) => [pk, counted(items.find((item) => item["pk"] === pk))]));
}

const kept = z.object({ sk: z.string(), expires_at: z.number() });

/** The oldest entry that is kept at a time, by number and expiry; null: none is. What the counter knows needs no look. */
export async function oldestKept(
  database: Database,
  pk: string,
  { entries, first, firstExpiresAt }: Counted,
  at: Date,
): Promise<Pick<Counted, "first" | "firstExpiresAt"> | null> {
  const seconds = at.getTime() / 1000;
  if (firstExpiresAt > seconds) return { first, firstExpiresAt };
  // Entries expire in the order of their numbers.
  const isKept = (item: Item) => kept.parse(item).expires_at > seconds;
  const oldest = await firstThat(database, pk, first, entries + 1, isKept);
  if (oldest === undefined) return null;
  const { sk, expires_at } = kept.parse(oldest);
  return { first: Number(sk), firstExpiresAt: expires_at };
}

type Item = Readonly<Record<string, unknown>>;

/** The first entry, of the numbers from `from` on and before `end`, that is so, as are all after it, found by halving. */
export async function firstThat(
  database: Database,
  pk: string,
  from: number,
  end: number,
  isSo: (item: Item) => boolean,
): Promise<Item | undefined> {
  let found: Item | undefined;
  for (let [first, last] = [from, end]; first < last; ) {
    const middle = Math.floor((first + last) / 2);
    const item = await readItem(database, "audit", { pk, sk: sequenceKey(middle) });
    if (item !== undefined && isSo(item)) [last, found] = [middle, item];
    else first = middle + 1;
  }
  return found;
}
