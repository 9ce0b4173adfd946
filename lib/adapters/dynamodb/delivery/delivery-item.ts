import * as z from "zod/mini";
import {
  type Attempt,
  type Delivery,
  dueAt,
  type ListedDelivery,
  listedDelivery,
} from "../../../model/delivery/delivery.ts";
import { EVENT_TYPES } from "../../../model/delivery/event.ts";
import { toCamelCase, toSnakeCase } from "../../../model/snake-case.ts";
import { type Attributes, present } from "../client/difference.ts";
import { optionalTime, storedTime } from "../client/stored-time.ts";

/** Partitions of the index by time; one alone would not take the writes of a busy service. */
export const DUE_SHARDS = ["0", "1", "2", "3", "4", "5", "6", "7"] as const;

const outcomeShape = z.object({
  ended_at: storedTime,
  duration_ms: z.number(),
  code: z._default(z.nullable(z.number()), null),
  body: z.string(),
  truncated: z.boolean(),
  problem: z._default(z.nullable(z.string()), null),
});

const attemptShape = z.object({
  number: z.number(),
  kind: z.enum(["automatic", "manual"]),
  started_at: storedTime,
  outcome: z._default(z.nullable(outcomeShape), null),
});

const changingShape = z.object({
  manual_requested: z.number(),
  manual_attempts: z.number(),
  manual_requested_at: optionalTime,
  lost_attempts: z.number(),
  latest: z._default(z.nullable(attemptShape), null),
  stopped: z._default(z.nullable(z.string()), null),
  version: z.number(),
});

const fixedShape = z.object({
  workspace_id: z.string(),
  webhook_id: z.string(),
  event_id: z.string(),
  body: z.string(),
});

const deliveryShape = z.object({ ...fixedShape.shape, ...changingShape.shape });

/** What never changes of a delivery, which is kept for so many days. */
export function fixedAttributes(delivery: Delivery, days: number): Record<string, unknown> {
  const { id, createdAt } = delivery;
  return {
    pk: id,
    ...toSnakeCase(fixedShape, delivery),
    listed_at: `${createdAt.toISOString()}#${id}`,
    expires_at: expiryOf(createdAt, days),
  };
}

/** What changes; `due_shard` and `due_at` keep a delivery in the index by time while something is left to do. */
export function changingAttributes(delivery: Delivery): Attributes {
  const due = dueAt(delivery);
  return {
    ...toSnakeCase(changingShape, delivery),
    listed: JSON.stringify(listedContent(delivery)),
    latest: delivery.latest && attemptAttributes(delivery.latest),
    due_shard: due && shardOf(delivery.id),
    due_at: text(due),
  };
}

/** What lists show, and then what else a query of many deliveries needs. The index of the list holds it as one text. */
function listedContent(delivery: ListedDelivery) {
  return {
    ...listedDelivery(delivery),
    created_at: delivery.createdAt.toISOString(),
    next_attempt_at: text(delivery.nextAttemptAt),
    automatic_attempts: delivery.automaticAttempts,
  };
}

/** An attempt that a newer one has replaced, as an item of its own, which is kept as long as its delivery. */
export function attemptItem(delivery: Delivery, attempt: Attempt, days: number): Record<string, unknown> {
  const key = { pk: delivery.id, sk: String(attempt.number).padStart(6, "0") };
  return { ...key, ...attemptAttributes(attempt), expires_at: expiryOf(delivery.createdAt, days) };
}

function attemptAttributes(attempt: Attempt): Record<string, unknown> {
  const { outcome, ...begun } = toSnakeCase(attemptShape, attempt);
  return present({ ...begun, outcome: outcome && present(outcome) });
}

const listedShape = z.object({ pk: z.string(), listed: z.string() });

const contentShape = z.object({
  event: z.enum(EVENT_TYPES),
  created_at: storedTime,
  status: z.enum(["pending", "successful", "failed"]),
  response_code: z.nullable(z.number()),
  delivered_at: z.nullable(storedTime),
  next_attempt_at: z.nullable(storedTime),
  automatic_attempts: z.number(),
});

/** What a list shows of the delivery that an item, or these attributes of it, hold. */
export function readListed(item: Readonly<Record<string, unknown>>): ListedDelivery {
  const { pk, listed } = listedShape.parse(item);
  return { id: pk, ...toCamelCase(contentShape, contentShape.parse(JSON.parse(listed))) };
}

/** The delivery that an item holds. */
export const readDelivery = (item: Record<string, unknown>): Delivery => ({
  ...readListed(item),
  ...toCamelCase(deliveryShape, deliveryShape.parse(item)),
});

/** The attempt that an item of the history holds. */
export const readAttempt = (item: Record<string, unknown>): Attempt =>
  toCamelCase(attemptShape, attemptShape.parse(item));

/** Epoch seconds at which a delivery made then is gone. */
export function expiryOf(createdAt: Date, days: number): number {
  return Math.floor(createdAt.getTime() / 1000) + days * 86_400;
}

function shardOf(id: string): string {
  return DUE_SHARDS[id.charCodeAt(id.length - 1) % DUE_SHARDS.length] ?? DUE_SHARDS[0];
}

const text = (at: Date | null): string | null => at?.toISOString() ?? null;
