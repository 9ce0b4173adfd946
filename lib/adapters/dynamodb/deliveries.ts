import { PutCommand, QueryCommand, type QueryCommandOutput, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { AuditEntry } from "../../model/audit.ts";
import { DELIVERY_DAYS, type Delivery } from "../../model/delivery.ts";
import type { Deliveries } from "../../webhooks/ports.ts";
import { askTogether } from "../ask-together.ts";
import { insertItems, readItems } from "./batch.ts";
import type { Database } from "./client.ts";
import { commit } from "./commit.ts";
import {
  attemptItem,
  changingAttributes,
  expiryOf,
  fixedAttributes,
  LISTED_ATTRIBUTES,
  readAttempt,
  readDelivery,
  readListed,
} from "./delivery-item.ts";
import { differenceOf, present } from "./difference.ts";
import { ConditionFailed, isConditionFailed, transact, type Write } from "./transact.ts";

/**
 * Deliveries and their attempts. A delivery's item holds its newest attempt, and the attempts before it are items of
 * their own: so one that succeeds at once costs three writes (it is owed, it is claimed, it is done).
 */
export function deliveries(database: Database, now: () => Date): Deliveries {
  const counts = rememberCounts(now);
  const together = askTogether({ joins: true }); // the index that pages are read by may be behind anyway
  return {
    add: (owed) => insertItems(database, "deliveries", owed.map(itemOf)),

    addAsked: (delivery, audit) =>
      commit(database, { writes: [{ Put: putOf(database, delivery) }], audit: [audit], events: [] }),

    read: async (ids) => {
      const items = await readItems(
        database,
        "deliveries",
        ids.map((pk) => ({ pk })),
      );
      return items.map(readDelivery).filter((delivery) => isKept(delivery, now()));
    },

    replace: (before, after, audit) => replace(database, before, after, audit),

    recordLate: async (delivery, attempt) => {
      const Item = attemptItem(delivery, attempt);
      await database.client.send(new PutCommand({ TableName: database.table("attempts"), Item }));
    },

    postpone: async (late, until) => {
      await Promise.all(late.map((delivery) => postpone(database, delivery, until)));
    },

    list: (webhookId, slice) =>
      together(JSON.stringify([webhookId, slice]), () => readPage(database, webhookId, slice, now(), counts)),

    history: async (delivery) => {
      const answer = await database.client.send(
        new QueryCommand({
          TableName: database.table("attempts"),
          KeyConditionExpression: "pk = :pk",
          ExpressionAttributeValues: { ":pk": delivery.id },
          ConsistentRead: true,
        }),
      );
      return [...(answer.Items ?? []).map(readAttempt), ...(delivery.latest ? [delivery.latest] : [])];
    },
  };
}

async function readPage(
  database: Database,
  webhookId: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
  at: Date,
  counts: ReturnType<typeof rememberCounts>,
): ReturnType<Deliveries["list"]> {
  const since = new Date(at.getTime() - DELIVERY_DAYS * 86_400_000);
  const { ids, end } = await idsUpTo(database, webhookId, since, offset + limit);
  const page = ids.slice(offset);
  const keys = page.map((pk) => ({ pk }));
  const [items, further] = await Promise.all([
    readItems(database, "deliveries", keys, LISTED_ATTRIBUTES),
    end === undefined ? 0 : counts(end, () => countAfter(database, webhookId, since, end)),
  ]);
  const found = new Map(items.map(readListed).map((delivery) => [delivery.id, delivery]));
  return { deliveries: page.flatMap((id) => found.get(id) ?? []), total: ids.length + further };
}

const itemOf = (delivery: Delivery) => ({ ...fixedAttributes(delivery), ...present(changingAttributes(delivery)) });

const putOf = (database: Database, delivery: Delivery) => ({
  TableName: database.table("deliveries"),
  Item: itemOf(delivery),
  ConditionExpression: "attribute_not_exists(pk)",
});

async function replace(database: Database, before: Delivery, after: Delivery, audit?: AuditEntry): Promise<boolean> {
  const update = {
    TableName: database.table("deliveries"),
    Key: { pk: after.id },
    ...differenceOf(changingAttributes(before), changingAttributes(after)),
    ConditionExpression: "version = :before",
  };
  const values = { ...update.ExpressionAttributeValues, ":before": before.version };
  const change = { ...update, ExpressionAttributeValues: values };
  const replaced = before.latest !== null && before.latest.number !== after.latest?.number ? before.latest : null;
  try {
    if (audit) await commit(database, { writes: [{ Update: change }], audit: [audit], events: [] });
    else if (replaced) await transact(database, [{ Update: change }, keep(database, after, replaced)]);
    else await database.client.send(new UpdateCommand(change));
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed || isConditionFailed(error)) return false;
    throw error;
  }
}

const keep = (database: Database, delivery: Delivery, attempt: NonNullable<Delivery["latest"]>): Write => ({
  Put: { TableName: database.table("attempts"), Item: attemptItem(delivery, attempt) },
});

async function postpone(database: Database, delivery: Delivery, until: Date): Promise<void> {
  const update = new UpdateCommand({
    TableName: database.table("deliveries"),
    Key: { pk: delivery.id },
    UpdateExpression: "SET due_at = :until",
    ConditionExpression: "version = :version",
    ExpressionAttributeValues: { ":until": until.toISOString(), ":version": delivery.version },
  });
  await database.client.send(update).catch((error: unknown) => {
    if (!isConditionFailed(error)) throw error;
  });
}

function byWebhook(database: Database, webhookId: string, since: Date) {
  return {
    TableName: database.table("deliveries"),
    IndexName: "by-webhook",
    KeyConditionExpression: "webhook_id = :webhook AND listed_at > :since",
    ExpressionAttributeValues: { ":webhook": webhookId, ":since": since.toISOString() },
    ScanIndexForward: false,
  };
}

type Key = Record<string, unknown>;

const keyShape = z.object({ pk: z.string() });

/** The newest ids, and where the list goes on; undefined: it ends with them. */
async function idsUpTo(
  database: Database,
  webhookId: string,
  since: Date,
  wanted: number,
): Promise<{ readonly ids: readonly string[]; readonly end: Key | undefined }> {
  const ids: string[] = [];
  let end: Key | undefined;
  do {
    const answer = await database.client.send(
      new QueryCommand({
        ...byWebhook(database, webhookId, since),
        ProjectionExpression: "pk",
        Limit: wanted - ids.length,
        ...(end === undefined ? {} : { ExclusiveStartKey: end }),
      }),
    );
    ids.push(...(answer.Items ?? []).map((item) => keyShape.parse(item).pk));
    end = answer.LastEvaluatedKey;
  } while (end !== undefined && ids.length < wanted);
  return { ids, end };
}

/** How long a count of older deliveries holds: their number only shrinks, by age. */
const COUNTED_MILLISECONDS = 10_000;

/** Counts that one process remembers at most. */
const MAX_COUNTS = 1000;

/** Counts what comes after a key at most every ten seconds: it reads all of that, which can be weeks of a busy webhook. */
function rememberCounts(now: () => Date) {
  const known = new Map<string, { readonly count: Promise<number>; readonly until: number }>();
  return (after: Key, count: () => Promise<number>): Promise<number> => {
    const name = JSON.stringify(after);
    const last = known.get(name);
    if (last && last.until > now().getTime()) return last.count;
    if (known.size >= MAX_COUNTS) known.clear();
    const counted = count();
    counted.catch(() => known.delete(name));
    known.set(name, { count: counted, until: now().getTime() + COUNTED_MILLISECONDS });
    return counted;
  };
}

/** How many come after a key. */
async function countAfter(database: Database, webhookId: string, since: Date, key: Key): Promise<number> {
  let total = 0;
  let from: Key | undefined = key;
  do {
    const answer: QueryCommandOutput = await database.client.send(
      new QueryCommand({ ...byWebhook(database, webhookId, since), Select: "COUNT", ExclusiveStartKey: from }),
    );
    total += answer.Count ?? 0;
    from = answer.LastEvaluatedKey;
  } while (from !== undefined);
  return total;
}

function isKept({ createdAt }: Delivery, now: Date): boolean {
  return expiryOf(createdAt) * 1000 > now.getTime();
}
