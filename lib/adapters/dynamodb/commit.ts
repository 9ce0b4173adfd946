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
  const byPartition = Map.groupBy(
    entries.flatMap((entry) => partitionsOf(entry.workspaceId, entry.actor, entry.action).map((pk) => ({ pk, entry }))),
    ({ pk }) => pk,
  );
  const counters = await readCounters(database, [...byPartition.keys()]);
  const entriesBefore = (pk: string) => counters.get(pk)?.entries ?? 0;
  const placeIn = (pk: string, wanted: AuditEntry) =>
    entriesBefore(pk) + 1 + (byPartition.get(pk) ?? []).findIndex(({ entry }) => entry === wanted);
  const placed = new Map(entries.map((entry) => [entry, placedEntry(entry, (pk) => placeIn(pk, entry))]));
  const writes = [...byPartition].map(async ([pk, added]) => {
    const counted = counters.get(pk) ?? null;
    const before = entriesBefore(pk);
    const newEntries = added.map(({ entry }) => placed.get(entry) ?? entry);
    const expiresAt = expiryOf(database, counted, newEntries);
    return [
      await raiseCount(database, pk, counted, newEntries, expiresAt),
      ...newEntries.map((entry, at) => putEntry(database, writeEntry(pk, before + at + 1, entry, expiresAt))),
    ];
  });
  return (await Promise.all(writes)).flat();
}

/**
 * Entries expire in the order of their numbers, by which lists find the oldest one: after the operator has made their time
 * shorter, none expires before an older one.
 */
function expiryOf({ keptDays }: Database, counted: Counted | null, added: readonly AuditEntry[]): number {
  const newest = Math.max(...added.map(({ createdAt }) => createdAt.getTime()));
  return Math.max(Math.floor(newest / 1000) + keptDays.auditDays * 86_400, counted?.lastExpiresAt ?? 0);
}

/** The counter's next value, if it is still as it was read; it forgets entries that have expired meanwhile. */
async function raiseCount(
  database: Database,
  pk: string,
  counted: Counted | null,
  added: readonly AuditEntry[],
  expiresAt: number,
): Promise<Write> {
  const [newest] = added;
  const before = counted?.entries ?? 0;
  const kept = counted && newest ? await oldestKept(database, pk, counted, newest.createdAt) : null;
  return {
    Update: {
      TableName: database.table("audit"),
      Key: { pk, sk: COUNTER },
      UpdateExpression: "SET entries = :after, #first = :first, first_expires_at = :expires, last_expires_at = :last",
      ConditionExpression: before === 0 ? "attribute_not_exists(entries)" : "entries = :before",
      ExpressionAttributeNames: { "#first": "first" },
      ExpressionAttributeValues: {
        ":after": before + added.length,
        ":first": kept?.sequence ?? before + 1,
        ":expires": kept?.expiresAt ?? expiresAt,
        ":last": expiresAt,
        ...(before === 0 ? {} : { ":before": before }),
      },
    },
  };
}

const putEntry = (database: Database, Item: Record<string, unknown>): Write => ({
  Put: { TableName: database.table("audit"), Item },
});
