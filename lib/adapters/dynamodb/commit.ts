import type { Event } from "../../model/delivery/event.ts";
import type { AuditEntry } from "../../model/workspace/audit.ts";
import { retry } from "../retry.ts";
import { type Counted, oldestKept, readCounters } from "./audit/audit-bounds.ts";
import { writeEntry } from "./audit/audit-item.ts";
import { COUNTER, partitionsOf, placedEntry } from "./audit/audit-keys.ts";
import type { Database } from "./client/client.ts";
import { ConditionFailed, jitteredPause, transact, type Write } from "./client/transact.ts";
import { putEvent } from "./event-item.ts";

/** A change of the service's own state: what is written, by whom, and what is announced. All or nothing. */
export interface Change {
  readonly writes: readonly Write[];
  readonly audit: readonly AuditEntry[];
  readonly events: readonly Event[];
}

/** Two writers on one workspace take the same next numbers; the one that comes second reads them again. */
const ATTEMPTS = 20;

/**
 * Commits a change with its audit entries and events in one transaction. Rejects with `ConditionFailed` (positions as in
 * `writes`) when a condition of the change itself does not hold. An entry costs four writes and each partition that it
 * goes to one more, of the 100 that a transaction takes.
 */
export async function commit(database: Database, { writes, audit, events }: Change): Promise<void> {
  const isOfTrail = (error: unknown) =>
    error instanceof ConditionFailed && error.positions.every((position) => position >= writes.length);
  const write = async () => {
    const trail = audit.length === 0 ? [] : await auditWrites(database, audit);
    await transact(database, [...writes, ...events.map((event) => putEvent(database, event)), ...trail]);
  };
  await retry(ATTEMPTS, isOfTrail, write, jitteredPause);
}

/** The same; false, and nothing was written: a condition of the change itself did not hold. */
export async function commitIf(database: Database, change: Change): Promise<boolean> {
  try {
    await commit(database, change);
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}

async function auditWrites(database: Database, entries: readonly AuditEntry[]): Promise<readonly Write[]> {
  const at = new Date(Math.max(...entries.map(({ createdAt }) => createdAt.getTime())));
  const counters = await readCounters(database, [...new Set(entries.flatMap(partitionsOf))]);
  const addedTo = (pk: string) => entries.filter((entry) => partitionsOf(entry).includes(pk));
  const placeIn = (pk: string, entry: AuditEntry) => (counters.get(pk)?.entries ?? 0) + 1 + addedTo(pk).indexOf(entry);
  const writes = [...counters].map(async ([pk, counted]) => {
    const next = await countedAfter(database, pk, counted, addedTo(pk).length, at);
    const items = addedTo(pk).map((entry) => {
      const placed = placedEntry(entry, (partition) => placeIn(partition, entry));
      return writeEntry(pk, placeIn(pk, entry), placed, next.lastExpiresAt);
    });
    const puts = items.map((Item) => ({ Put: { TableName: database.table("audit"), Item } }));
    return [raiseCount(database, pk, counted, next), ...puts];
  });
  return (await Promise.all(writes)).flat();
}

/**
 * What a counter says after more entries; it forgets those that have expired meanwhile. Entries expire in the order of
 * their numbers, by which lists find the oldest one: after the operator has made their time shorter, none expires before
 * an older one.
 */
async function countedAfter(
  database: Database,
  pk: string,
  counted: Counted,
  added: number,
  at: Date,
): Promise<Counted> {
  const expiresAt = Math.floor(at.getTime() / 1000) + database.keptDays.auditDays * 86_400;
  const lastExpiresAt = Math.max(expiresAt, counted.lastExpiresAt);
  const fresh = { first: counted.entries + 1, firstExpiresAt: lastExpiresAt };
  const oldest = (await oldestKept(database, pk, counted, at)) ?? fresh;
  return { ...oldest, entries: counted.entries + added, lastExpiresAt };
}

/** The counter's next value, if it is still as it was read. */
function raiseCount(database: Database, pk: string, before: Counted, next: Counted): Write {
  return {
    Update: {
      TableName: database.table("audit"),
      Key: { pk, sk: COUNTER },
      UpdateExpression: "SET entries = :after, #first = :first, first_expires_at = :expires, last_expires_at = :last",
      ConditionExpression: "attribute_not_exists(pk) OR entries = :before",
      ExpressionAttributeNames: { "#first": "first" },
      ExpressionAttributeValues: {
        ":before": before.entries,
        ":after": next.entries,
        ":first": next.first,
        ":expires": next.firstExpiresAt,
        ":last": next.lastExpiresAt,
      },
    },
  };
}
