import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import type { AuditFilter, AuditLog, AuditTrail } from "../../audit/ports.ts";
import type { AuditEntry } from "../../model/audit.ts";
import { oldestKept, readCounters } from "./audit-bounds.ts";
import { readEntry } from "./audit-item.ts";
import { partition, sequenceKey } from "./audit-keys.ts";
import type { Database } from "./client.ts";
import { commit } from "./commit.ts";

/** The audit log in DynamoDB. Entries past their days are left out of pages and totals before DynamoDB deletes them. */
export function auditLog(database: Database, now: () => Date): AuditLog & AuditTrail {
  return {
    append: (entry) => commit(database, { writes: [], audit: [entry], events: [] }),

    page: async (filter, { limit, offset }) => {
      const pk = partition(filter);
      const { first, last } = await bounds(database, pk, now());
      const newest = last - offset;
      const oldest = Math.max(first, newest - limit + 1);
      const entries: AuditEntry[] = [];
      if (newest >= first) for await (const batch of range(database, pk, oldest, newest)) entries.push(...batch);
      return { entries, total: last - first + 1 };
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

/** The sequence numbers of the oldest entry that is still kept and of the newest; `first` is `last + 1` when none is. */
async function bounds(database: Database, pk: string, at: Date): Promise<{ first: number; last: number }> {
  const counted = (await readCounters(database, [pk])).get(pk);
  if (counted === undefined) return { first: 1, last: 0 };
  const oldest = await oldestKept(database, pk, counted, at);
  return { first: oldest?.sequence ?? counted.entries + 1, last: counted.entries };
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
        TableName: database.table("audit"),
        KeyConditionExpression: "pk = :pk AND sk BETWEEN :oldest AND :newest",
        ExpressionAttributeValues: { ":pk": pk, ":oldest": sequenceKey(oldest), ":newest": sequenceKey(newest) },
        ProjectionExpression: "entry",
        ScanIndexForward: false,
        ConsistentRead: true,
        ...(from === undefined ? {} : { ExclusiveStartKey: from }),
      }),
    );
    yield (answer.Items ?? []).map(readEntry);
    from = answer.LastEvaluatedKey;
  } while (from !== undefined);
}
