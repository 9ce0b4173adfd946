import * as z from "zod/mini";
import type { Doorbells } from "../../../access/ports.ts";
import type { Doorbell, Heard } from "../../../model/doorbell.ts";
import { toCamelCase } from "../../../model/snake-case.ts";
import type { WakeClaim } from "../../../sync/ports/wake-ports.ts";
import type { Database } from "../client/client.ts";
import { settingOf } from "../client/difference.ts";
import { readEach, readItem, scanAll } from "../client/read-item.ts";
import { storedMilliseconds } from "../client/stored-time.ts";
import { updateIf } from "../client/transact.ts";
import { commit } from "../commit.ts";

/** When a mapping was rung for and woken last: an item of its own, so that many mappings do not meet in one. */
const BELL = "doorbell#";

/** A workspace's URL. */
const URL_KEY = "doorbell";

const time = z._default(z.nullable(storedMilliseconds), null);
const urlItem = z.object({
  number: z._default(z.number(), 0),
  made_at: time,
  former_until: time,
  pepper: z._default(z.number(), 1),
});
const bellItem = z.object({ pull: time, alive_since: time, missed_at: time });

/** Doorbells as items of the engine's table. */
export function doorbells(database: Database): Doorbells {
  const key = (pk: string) => ({ TableName: database.table("engine"), Key: { pk, sk: URL_KEY } });
  return {
    read: async (workspaceId) => {
      const stored = await readItem(database, "engine", key(workspaceId).Key);
      return toCamelCase(urlItem, urlItem.parse(stored ?? {}));
    },
    set: (workspaceId, { number, madeAt, formerUntil, pepper }, entry) => {
      const Update = {
        ...key(workspaceId),
        ...settingOf({
          number,
          made_at: madeAt?.getTime() ?? null,
          former_until: formerUntil?.getTime() ?? null,
          pepper,
        }),
      };
      return commit(database, { writes: [{ Update }], audit: [entry], events: [] });
    },
  };
}

/** Doorbells whose URL was derived from an earlier pepper than that. Reads the whole table. */
export async function doorbellsBefore(database: Database, pepper: number) {
  const pages = scanAll(database, "engine", {
    FilterExpression: "sk = :sk",
    ExpressionAttributeValues: { ":sk": URL_KEY },
  });
  const found: { readonly workspaceId: string; readonly madeAt: Date }[] = [];
  for await (const items of pages) {
    const urls = readEach(items, (stored) => ({ ...urlItem.parse(stored), workspaceId: String(stored["pk"]) }));
    for (const { workspaceId, made_at: madeAt, ...url } of urls)
      if (madeAt !== null && url.pepper < pepper) found.push({ workspaceId, madeAt });
  }
  return found;
}

/** A workspace's doorbell, of its items by their sort keys. */
export function doorbellOf(items: ReadonlyMap<string, Record<string, unknown>>): Doorbell | null {
  const [url] = readEach([items.get(URL_KEY) ?? {}], (item) => urlItem.parse(item));
  const madeAt = url?.made_at ?? null;
  if (madeAt === null) return null;
  const bells = [...items.values()].filter(({ sk }) => String(sk).startsWith(BELL));
  const heard = readEach(bells, (item): readonly (readonly [string, Heard])[] => {
    const { pull: rungAt, alive_since: aliveSince, missed_at: missedAt } = bellItem.parse(item);
    return rungAt ? [[String(item["sk"]).slice(BELL.length), { rungAt, aliveSince, missedAt }]] : [];
  });
  return { madeAt, pepper: url?.pepper ?? 1, heard: new Map(heard.flat()) };
}

/** Notes that a change of a mapping was found which no ring had announced; its next ring takes that back. */
export async function noteMissed(database: Database, workspaceId: string, mappingId: string, at: Date): Promise<void> {
  await updateIf(database, "engine", {
    Key: { pk: workspaceId, sk: BELL + mappingId },
    UpdateExpression: "SET missed_at = :at REMOVE alive_since",
    ExpressionAttributeValues: { ":at": at.getTime() },
  });
}

/** Wake-ups of one mapping and side are so far apart. */
const APART_MILLISECONDS = 2_000;

/**
 * At once when none came in the last two seconds, else two seconds after the last, unless that one is still to come. The
 * clocks of two hosts differ by milliseconds; what is lost between them the next beat finds.
 */
export async function claimWake(
  database: Database,
  { workspaceId, mappingId, wakes, at }: WakeClaim,
): Promise<number | null> {
  const update = (set: string, condition: string, values: Readonly<Record<string, number>>) =>
    updateIf(database, "engine", {
      Key: { pk: workspaceId, sk: BELL + mappingId },
      UpdateExpression:
        wakes === "pull"
          ? `SET #wake = ${set}, alive_since = if_not_exists(alive_since, :at) REMOVE missed_at`
          : `SET #wake = ${set}`,
      ConditionExpression: condition,
      ExpressionAttributeNames: { "#wake": wakes },
      ExpressionAttributeValues: values,
      ReturnValues: "UPDATED_NEW",
    });
  const last = { ":at": at, ":last": at - APART_MILLISECONDS };
  const claimed =
    (await update(":at", "attribute_not_exists(#wake) OR #wake <= :last", last)) ??
    (await update("#wake + :apart", "#wake <= :at", { ":at": at, ":apart": APART_MILLISECONDS }));
  return claimed === null ? null : Number(claimed[wakes]);
}
