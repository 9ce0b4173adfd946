import { paginateQuery } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { Deliveries, EventRows, Overdue } from "../../../webhooks/ports.ts";
import type { Database } from "../client/client.ts";
import { DUE_SHARDS } from "./delivery-item.ts";

type LateEvents = Pick<Overdue, "events" | "postponeEvents">;

/** Deliveries and one read of their items. */
const PAGE = 100;

/** What is late, by the index by time, and by a scan of all waiting events. */
export function overdue(
  database: Database,
  deliveries: Pick<Deliveries, "read" | "postpone">,
  events: EventRows & LateEvents,
): Overdue {
  return {
    events: events.events,
    postponeEvents: events.postponeEvents,
    postponeDeliveries: deliveries.postpone,
    async *deliveries(before) {
      for (const shard of DUE_SHARDS) {
        for await (const ids of lateIds(database, shard, before)) yield await deliveries.read(ids);
      }
    },
  };
}

const keyShape = z.object({ pk: z.string() });

async function* lateIds(database: Database, shard: string, before: Date): AsyncGenerator<readonly string[]> {
  const asked = {
    TableName: database.table("deliveries"),
    IndexName: "by-due",
    KeyConditionExpression: "due_shard = :shard AND due_at < :before",
    ExpressionAttributeValues: { ":shard": shard, ":before": before.toISOString() },
  };
  for await (const { Items = [] } of paginateQuery({ client: database.client, pageSize: PAGE }, asked)) {
    if (Items.length > 0) yield Items.map((item) => keyShape.parse(item).pk);
  }
}
