import { BatchGetCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { AuditEntry } from "../../model/audit.ts";
import type { Event } from "../../model/event.ts";
import { writeEntry } from "./audit-item.ts";
import { COUNTER, partitionsOf } from "./audit-keys.ts";
import type { Database } from "./client.ts";
import { putEvent } from "./event-item.ts";
import { ConditionFailed, jitteredPause, transact, type Write } from "./transact.ts";

/** A change of the service's own state: what is written, who did it, whom to tell. All of it happens, or nothing. */
export interface Change {
  readonly writes: readonly Write[];
  readonly audit: readonly AuditEntry[];
  readonly events: readonly Event[];
}

/** Two writers on one workspace take the same next numbers; the one that comes second reads them again. */
const ATTEMPTS = 20;

/**
 * Commits a change with its audit entries and events in one transaction. Rejects with `ConditionFailed` (positions in
 * `writes`) when a condition of the change itself does not hold. An entry costs four writes and each partition that it
 * goes to one more, of the 100 that a transaction takes.
 */
export async function commit(database: Database, { writes, audit, events }: Change): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const trail = audit.length === 0 ? [] : await auditWrites(database, audit);
    try {
      await transact(database, [...writes, ...events.map((event) => putEvent(database, event)), ...trail]);
      return;
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      const own = error.positions.filter((position) => position < writes.length);
      if (own.length > 0) throw new ConditionFailed(own, error);
      if (attempt === ATTEMPTS) throw error;
      await jitteredPause(attempt);
    }
  }
}

async function auditWrites(database: Database, entries: readonly AuditEntry[]): Promise<readonly Write[]> {
  const partitions = new Set(
    entries.flatMap(({ workspaceId, actor, action }) => partitionsOf(workspaceId, actor, action)),
  );
  const counts = await readCounts(database, [...partitions]);
  const next = new Map(counts);
  const puts = entries.flatMap((entry) =>
    partitionsOf(entry.workspaceId, entry.actor, entry.action).map((pk) => {
      const sequence = (next.get(pk) ?? 0) + 1;
      next.set(pk, sequence);
      return { Put: { TableName: database.table("audit"), Item: writeEntry(pk, sequence, entry) } };
    }),
  );
  const steps = [...next].map(([pk, count]) => raiseCount(database, pk, counts.get(pk) ?? 0, count));
  return [...steps, ...puts];
}

const counter = z.object({ pk: z.string(), entries: z.number() });

async function readCounts(database: Database, partitions: readonly string[]): Promise<Map<string, number>> {
  const table = database.table("audit");
  const counts = new Map<string, number>();
  let keys: Record<string, unknown>[] = partitions.map((pk) => ({ pk, sk: COUNTER }));
  while (keys.length > 0) {
    const answer = await database.client.send(
      new BatchGetCommand({ RequestItems: { [table]: { Keys: keys, ConsistentRead: true } } }),
    );
    for (const item of answer.Responses?.[table] ?? []) {
      const { pk, entries } = counter.parse(item);
      counts.set(pk, entries);
    }
    keys = answer.UnprocessedKeys?.[table]?.Keys ?? [];
  }
  return counts;
}

function raiseCount(database: Database, pk: string, seen: number, count: number): Write {
  return {
    Update: {
      TableName: database.table("audit"),
      Key: { pk, sk: COUNTER },
      UpdateExpression: "SET entries = :count",
      ConditionExpression: seen === 0 ? "attribute_not_exists(entries)" : "entries = :seen",
      ExpressionAttributeValues: seen === 0 ? { ":count": count } : { ":count": count, ":seen": seen },
    },
  };
}
