import { PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { KeptReport } from "../../../health/ports.ts";
import type { PollOutcome } from "../../../model/engine.ts";
import { toCamelCase, toSnakeCase } from "../../../model/snake-case.ts";
import type { Polls } from "../../../monitoring/ports.ts";
import type { Database } from "../client/client.ts";
import { settingOf } from "../client/difference.ts";
import { readEach, readItem } from "../client/read-item.ts";
import { optionalTime, storedTime } from "../client/stored-time.ts";
import { updateIf } from "../client/transact.ts";

const KEPT_SECONDS = 86_400;

export const pollsKey = (workspaceId: string): string => `${workspaceId}#polls`;

const key = (workspaceId: string, mark: string) => ({ pk: pollsKey(workspaceId), sk: mark });

const count = z._default(z.nullable(z.number()), null);
const outcomeItem = z.object({
  ended_at: optionalTime,
  pulled: count,
  accepted: count,
  refused: count,
  error: z._default(z.nullable(z.string()), null),
});
const item = z.object({ mapping_id: z.string(), asked_at: storedTime, ...outcomeItem.shape });

/** Polls that were asked for, in the engine's table, for a day. */
export function polls(database: Database): Polls {
  return {
    add: async ({ workspaceId, mappingId, mark, askedAt }) => {
      const expires_at = Math.floor(askedAt.getTime() / 1000) + KEPT_SECONDS;
      const Item = { ...key(workspaceId, mark), mapping_id: mappingId, asked_at: askedAt.toISOString(), expires_at };
      await database.client.send(new PutCommand({ TableName: database.table("engine"), Item }));
    },
    read: async (workspaceId, mark) => {
      const stored = await readItem(database, "engine", key(workspaceId, mark));
      const [poll] = readEach(stored ? [stored] : [], (one) => toCamelCase(item, item.parse(one)));
      if (poll === undefined) return null;
      const { mappingId, askedAt, endedAt, ...result } = poll;
      return { mappingId, askedAt, outcome: endedAt && { ...result, endedAt } };
    },
  };
}

/** Those of a workspace's items that have not ended. */
export const readOpenPolls = (items: readonly Record<string, unknown>[]): KeptReport["openPolls"] =>
  readEach(items, (one) => ({ mark: String(one["sk"]), ...toCamelCase(item, item.parse(one)) })).filter(
    ({ endedAt }) => endedAt === null,
  );

/** Notes the end of a poll; one that was asked for by a version that kept none, or more than a day ago, is not noted. */
export async function endPoll(
  database: Database,
  workspaceId: string,
  mark: string,
  outcome: PollOutcome,
): Promise<void> {
  await updateIf(database, "engine", {
    Key: key(workspaceId, mark),
    ...settingOf(toSnakeCase(outcomeItem, outcome)),
    ConditionExpression: "attribute_exists(pk)",
  });
}
