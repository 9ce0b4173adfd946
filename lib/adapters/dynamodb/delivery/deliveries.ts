import { PutCommand, paginateQuery, QueryCommand, type QueryCommandInput, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { type Attempt, type Delivery, type DeliveryFilter, listedDelivery } from "../../../model/delivery/delivery.ts";
import { type Slice, unknownCursor } from "../../../model/page.ts";
import { TABLES } from "../../../model/resources.ts";
import type { AuditEntry } from "../../../model/workspace/audit.ts";
import type { Deliveries } from "../../../webhooks/ports.ts";
import { insertItems, readItems } from "../client/batch.ts";
import type { Database } from "../client/client.ts";
import { differenceOf, present } from "../client/difference.ts";
import { queryAll, readEach } from "../client/read-item.ts";
import { ConditionFailed, isConditionFailed, transact, updateIf } from "../client/transact.ts";
import { commit } from "../commit.ts";
import {
  attemptItem,
  changingAttributes,
  DUE_SHARDS,
  expiryOf,
  fixedAttributes,
  readAttempt,
  readDelivery,
  readListed,
} from "./delivery-item.ts";

/**
 * Deliveries and their attempts. A delivery's item holds its newest attempt, and the attempts before it are items of
 * their own: so one that succeeds at once costs three writes (created, claimed, done).
 */
export function deliveries(database: Database, now: () => Date): Deliveries {
  const TableName = database.table("deliveries");
  const itemOf = (delivery: Delivery) => ({
    ...fixedAttributes(delivery, database.keptDays.deliveryDays),
    ...present(changingAttributes(delivery)),
  });

  const read = async (ids: readonly string[]) => {
    const keys = ids.map((pk) => ({ pk }));
    const items = await readItems(database, "deliveries", keys);
    return readEach(items, readDelivery).filter((delivery) => isKept(database, delivery, now()));
  };

  return {
    add: (added) => insertItems(database, "deliveries", added.map(itemOf)),

    addAsked: (delivery, audit) => {
      const Put = { TableName, Item: itemOf(delivery), ConditionExpression: "attribute_not_exists(pk)" };
      return commit(database, { writes: [{ Put }], audit: [audit], events: [] });
    },

    read,

    replace: (before, after, audit) => replace(database, before, after, audit),

    recordLate: async (delivery, attempt) => {
      await database.client.send(new PutCommand(putOf(database, delivery, attempt)));
    },

    async *late(before) {
      for (const shard of DUE_SHARDS) {
        for await (const ids of lateIds(database, shard, before)) yield await read(ids);
      }
    },

    postpone: async (late, until) => {
      const values = { ":until": until.toISOString() };
      await Promise.all(
        late.map(({ id, version }) =>
          updateIf(database, "deliveries", {
            Key: { pk: id },
            UpdateExpression: "SET due_at = :until",
            ConditionExpression: "version = :version",
            ExpressionAttributeValues: { ...values, ":version": version },
          }),
        ),
      );
    },

    page: async (webhookId, slice) => {
      const since = new Date(now().getTime() - database.keptDays.deliveryDays * 86_400_000);
      const pageOf = (slice.status ?? slice.event) ? readFiltered : readPage;
      const { items, total } = await pageOf(database, webhookId, slice, since);
      return { rows: readEach(items, readListed).map(listedDelivery), total };
    },

    since: async (webhookId, since, { limit, beforeId }) => {
      const from = beforeId === undefined ? undefined : await placeOf(database, webhookId, beforeId);
      const query = { ...byWebhook(database, webhookId, since), ProjectionExpression: "pk, listed" };
      const { items, end } = await walk(database, query, limit, from);
      const rows = readEach(items, readListed);
      return { rows, next: end === undefined ? null : ((items.at(-1)?.["pk"] as string | undefined) ?? null) };
    },

    history: async (delivery) => {
      const replaced = await queryAll(database, "attempts", {
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": delivery.id },
        ConsistentRead: true,
      });
      return [...readEach(replaced, readAttempt), ...(delivery.latest ? [delivery.latest] : [])];
    },
  };
}

type Item = Readonly<Record<string, unknown>>;

/**
 * By an index that holds what lists show, so that a page is one read: what it saves of each shown delivery pays two writes
 * of the index for each made. The index may be behind by what a moment changed.
 */
async function readPage(
  database: Database,
  webhookId: string,
  { limit, offset, beforeId }: Slice,
  since: Date,
): Promise<{ readonly items: readonly Item[]; readonly total: number }> {
  const counting = { ...byWebhook(database, webhookId, since), Select: "COUNT" } as const;
  const listing = { ...byWebhook(database, webhookId, since), ProjectionExpression: "pk, listed" };
  if (beforeId !== undefined) {
    const { count } = await walk(database, counting, Number.POSITIVE_INFINITY, undefined);
    const from = await placeOf(database, webhookId, beforeId);
    if (from.listed_at <= since.toISOString()) return { items: [], total: count };
    const skipped = offset === 0 ? from : (await walk(database, counting, offset, from)).end;
    return { items: skipped ? (await walk(database, listing, limit, skipped)).items : [], total: count };
  }
  const before = offset === 0 ? null : await walk(database, counting, offset, undefined);
  if (before !== null && before.end === undefined) return { items: [], total: before.count };
  const { items, count, end } = await walk(database, listing, limit, before?.end);
  const rest = end === undefined ? 0 : (await walk(database, counting, Number.POSITIVE_INFINITY, end)).count;
  return { items, total: (before?.count ?? 0) + count + rest };
}

/** A page of those of a status or an event: all are read, as they are for the count. */
async function readFiltered(
  database: Database,
  webhookId: string,
  { limit, offset, beforeId, ...filter }: Slice & DeliveryFilter,
  since: Date,
): Promise<{ readonly items: readonly Item[]; readonly total: number }> {
  const { ExpressionAttributeValues: values, ...query } = byWebhook(database, webhookId, since);
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const texts = Object.fromEntries(given.map(([name, value]) => [`:${name}`, `"${name}":"${value}"`]));
  const filtered = {
    ...query,
    ProjectionExpression: "pk, listed, listed_at",
    FilterExpression: given.map(([name]) => `contains(listed, :${name})`).join(" AND "),
    ExpressionAttributeValues: { ...values, ...texts },
  };
  const { items } = await walk(database, filtered, Number.POSITIVE_INFINITY, undefined);
  const from = beforeId === undefined ? null : await placeOf(database, webhookId, beforeId);
  const rest = from === null ? items : items.filter((item) => String(item["listed_at"]) < from.listed_at);
  return { items: rest.slice(offset, offset + limit), total: items.length };
}

/** Deliveries and one read of their items. */
const LATE_PAGE = 100;

async function* lateIds(database: Database, shard: string, before: Date): AsyncGenerator<readonly string[]> {
  const asked = {
    TableName: database.table("deliveries"),
    IndexName: "by-due",
    KeyConditionExpression: "due_shard = :shard AND due_at < :before",
    ExpressionAttributeValues: { ":shard": shard, ":before": before.toISOString() },
  };
  for await (const { Items = [] } of paginateQuery({ client: database.client, pageSize: LATE_PAGE }, asked)) {
    if (Items.length > 0) yield Items.map(({ pk }) => String(pk));
  }
}

/** The position of a delivery in the list of its webhook. */
async function placeOf(database: Database, webhookId: string, id: string) {
  const [item] = await readItems(database, "deliveries", [{ pk: id }]);
  if (item?.["webhook_id"] !== webhookId) throw unknownCursor("this webhook's deliveries have");
  return { pk: id, webhook_id: webhookId, listed_at: String(item["listed_at"]) };
}

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
    else if (replaced) await transact(database, [{ Update: change }, { Put: putOf(database, after, replaced) }]);
    else await database.client.send(new UpdateCommand(change));
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed || isConditionFailed(error)) return false;
    throw error;
  }
}

const putOf = (database: Database, delivery: Delivery, attempt: Attempt) => ({
  TableName: database.table("attempts"),
  Item: attemptItem(delivery, attempt, database.keptDays.deliveryDays),
});

function byWebhook(database: Database, webhookId: string, since: Date) {
  return {
    TableName: database.table("deliveries"),
    IndexName: TABLES.deliveries.indexes[0].name,
    KeyConditionExpression: "webhook_id = :webhook AND listed_at > :since",
    ExpressionAttributeValues: { ":webhook": webhookId, ":since": since.toISOString() },
    ScanIndexForward: false,
  };
}

/** So many from a position on, and where the list continues; undefined: it ends with them. */
async function walk(
  database: Database,
  query: Omit<QueryCommandInput, "ExclusiveStartKey" | "Limit">,
  wanted: number,
  from: Item | undefined,
): Promise<{ readonly items: readonly Item[]; readonly count: number; readonly end: Item | undefined }> {
  const items: Item[] = [];
  let count = 0;
  let end = from;
  do {
    const limit = Number.isFinite(wanted) ? { Limit: wanted - count } : {};
    const page = await database.client.send(new QueryCommand({ ...query, ...limit, ExclusiveStartKey: end }));
    items.push(...(page.Items ?? []));
    count += page.Count ?? 0;
    end = page.LastEvaluatedKey;
  } while (end !== undefined && count < wanted);
  return { items, count, end };
}

function isKept({ keptDays }: Database, { createdAt }: Delivery, now: Date): boolean {
  return expiryOf(createdAt, keptDays.deliveryDays) * 1000 > now.getTime();
}
