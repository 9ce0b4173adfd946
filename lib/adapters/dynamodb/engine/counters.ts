import { PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { Counters, KeptCounters, KeptDepth, OtherCalls } from "../../../metrics/ports.ts";
import { HOURS_KEPT, type HourOfTotals } from "../../../model/calls/account.ts";
import { madeOf } from "../../../model/calls/budget.ts";
import type { HighWater } from "../../../model/high-water.ts";
import { toCamelCase, toSnakeCase } from "../../../model/snake-case.ts";
import { judgedCalls, judgedCount, type MappingTotals } from "../../../model/totals.ts";
import type { Database } from "../client/client.ts";
import { settingOf } from "../client/difference.ts";
import { queryAll, readEach, readItem, scanAll } from "../client/read-item.ts";
import { storedMilliseconds } from "../client/stored-time.ts";
import { updateIf } from "../client/transact.ts";
import { highWaterFor, totalsKey } from "./high-water.ts";
import { METRICS_PAGE } from "./metrics-page.ts";

/** Sort keys of a workspace's queue depth, of the calls that no cycle made, and of whether it is paused. */
const QUEUE = "queue";
const CALLS = "calls";
const PAUSE = "pause";

/** By so much the clocks of two processes may differ, and a report come late. */
const DOUBTFUL_MILLISECONDS = 60_000;

/**
 * Totals as items, one per mapping. A mapping's totals all come from one row and only rise, so their sum says which of
 * two reports is the later one; unless that row was created again, which shows in a smaller sum of a later cycle.
 */
export function counters(database: Database): Counters {
  const write = async (
    totals: MappingTotals,
    condition: string,
    beganAt: number,
    more: Record<string, number>,
    reached: readonly HighWater[] = [],
  ) => {
    const hour = Math.floor(beganAt / 3_600_000);
    const update = settingOf({
      ...toSnakeCase(totalsItem, totals),
      weight: weightOf(totals),
      began_at: beganAt,
      [`hour_${hour % HOURS_KEPT}`]: [hour, madeOf(totals.apiCalls), totals.rowsSynced + totals.rowsFailed],
      ...(reached.length > 0 && { reached: reached.map(highWaterFor) }),
    });
    await updateIf(database, "counters", {
      Key: totalsKey(totals.workspaceId, totals.mappingId),
      ...update,
      ConditionExpression: condition,
      ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ...more },
    });
  };

  return {
    begin: ({ workspaceId, id, sfObject }) =>
      write({ workspaceId, mappingId: id, sfObject, rowsSynced: 0, rowsFailed: 0, apiCalls: {} }, IS_NEW, 0, {}),
    set: (totals, cycleBeganAt, reached) => {
      const beganAt = cycleBeganAt.getTime();
      const around = { ":before": beganAt - DOUBTFUL_MILLISECONDS, ":after": beganAt + DOUBTFUL_MILLISECONDS };
      return write(totals, `${IS_NEW} OR ${HAS_RISEN} OR ${BEGAN_ANEW}`, beganAt, around, reached);
    },
    hours: async (workspaceId) => {
      const items = await queryAll(database, "counters", {
        KeyConditionExpression: "pk = :pk AND begins_with(sk, :mapping)",
        ExpressionAttributeValues: { ":pk": workspaceId, ":mapping": "mapping#" },
      });
      return readEach(items, (item) => ({
        mappingId: String(item["sk"]).replace(/^mapping#/, ""),
        sfObject: z.string().parse(item["sf_object"]),
        hours: Object.entries(item).flatMap(([name, kept]) => (name.startsWith("hour_") ? readHour(kept) : [])),
      }));
    },
    setQueueDepth: async ({ workspaceId, rows, oldestAt = null }, countedAt) => {
      await updateIf(database, "counters", {
        Key: { pk: workspaceId, sk: QUEUE },
        ...settingOf({ rows, counted_at: countedAt.getTime(), oldest_at: oldestAt?.getTime() ?? null }),
      });
    },
    setPaused: async (workspaceId, since) => {
      const Item = { pk: workspaceId, sk: PAUSE, since: since?.getTime() ?? null };
      await database.client.send(new PutCommand({ TableName: database.table("counters"), Item }));
    },
    pausedSince: async (workspaceId) => {
      const item = await readItem(database, "counters", { pk: workspaceId, sk: PAUSE });
      return readEach(item ? [item] : [], readPause)[0]?.since ?? null;
    },
    addCalls: async ({ workspaceId, apiCalls }) => {
      const labels = Object.entries(apiCalls);
      if (labels.length === 0) return;
      await updateIf(database, "counters", {
        Key: { pk: workspaceId, sk: CALLS },
        UpdateExpression: `ADD ${labels.map((_, at) => `#label${at} :calls${at}`).join(", ")}`,
        ExpressionAttributeNames: Object.fromEntries(labels.map(([label], at) => [`#label${at}`, `api#${label}`])),
        ExpressionAttributeValues: Object.fromEntries(labels.map(([, calls], at) => [`:calls${at}`, calls])),
      });
    },
    queueDepth: async (workspaceId) => {
      const item = await readItem(database, "counters", { pk: workspaceId, sk: QUEUE });
      const [{ rows, countedAt } = { rows: 0, countedAt: null }] = readEach(item ? [item] : [], readDepth);
      return { rows, countedAt };
    },
    readAll: () => readAll(database),
  };
}

const IS_NEW = "attribute_not_exists(weight)";
// A version before this one kept no time.
const HAS_RISEN = "(weight < :weight AND (attribute_not_exists(began_at) OR began_at < :after))";
const BEGAN_ANEW = "(weight > :weight AND (attribute_not_exists(began_at) OR began_at < :before))";

const weightOf = ({ rowsSynced, rowsFailed, apiCalls }: MappingTotals): number =>
  rowsSynced + rowsFailed + madeOf(apiCalls);

function readHour(kept: unknown): readonly HourOfTotals[] {
  const { data: [hour, calls, changes] = [] } = z.tuple([z.number(), z.number(), z.number()]).safeParse(kept);
  return hour === undefined || calls === undefined || changes === undefined ? [] : [{ hour, calls, changes }];
}

const count = z.pipe(z.number(), z.transform<number, number>(judgedCount));

const totalsItem = z.object({
  sf_object: z.string(),
  rows_synced: count,
  rows_failed: count,
  api_calls: z.pipe(z.unknown(), z.transform(judgedCalls)),
});

// Versions before this one kept no times.
const optionalMilliseconds = z._default(z.nullable(storedMilliseconds), null);
const depthItem = z.object({ rows: count, counted_at: optionalMilliseconds, oldest_at: optionalMilliseconds });

async function readAll(database: Database): Promise<KeptCounters> {
  const totals: MappingTotals[] = [];
  const depths: KeptDepth[] = [];
  const calls: OtherCalls[] = [];
  const pauses: KeptCounters["pauses"][number][] = [];
  for await (const items of scanAll(database, "counters")) {
    readEach(items, (item) => {
      if (item["pk"] === METRICS_PAGE.pk) return;
      if (item["sk"] === QUEUE) depths.push(readDepth(item));
      else if (item["sk"] === CALLS) calls.push(readCalls(item));
      else if (item["sk"] === PAUSE) pauses.push(readPause(item));
      else totals.push(readTotals(item));
    });
  }
  return { totals, depths, calls, pauses };
}

const readDepth = (item: Record<string, unknown>): KeptDepth => ({
  workspaceId: String(item["pk"]),
  ...toCamelCase(depthItem, depthItem.parse(item)),
});

const pauseItem = z.object({ pk: z.string(), since: z.nullable(storedMilliseconds) });

function readPause(item: Record<string, unknown>) {
  const { pk, since } = pauseItem.parse(item);
  return { workspaceId: pk, since };
}

function readCalls({ pk, sk: _, ...labels }: Record<string, unknown>): OtherCalls {
  const counted = Object.entries(labels).map(([label, calls]) => [label.replace(/^api#/, ""), calls]);
  return { workspaceId: String(pk), apiCalls: judgedCalls(Object.fromEntries(counted)) };
}

const readTotals = (item: Record<string, unknown>): MappingTotals => ({
  workspaceId: String(item["pk"]),
  mappingId: String(item["sk"]).replace(/^mapping#/, ""),
  ...toCamelCase(totalsItem, totalsItem.parse(item)),
});
