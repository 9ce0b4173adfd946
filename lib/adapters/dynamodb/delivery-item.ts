import * as z from "zod/mini";
import {
  type Attempt,
  DELIVERY_DAYS,
  type Delivery,
  dueAt,
  type ListedDelivery,
  listedDelivery,
  type Outcome,
} from "../../model/delivery.ts";
import { EVENT_TYPES } from "../../model/event.ts";
import { type Attributes, present } from "./difference.ts";

/** Partitions of the index by time; one alone would not take the writes of a busy service. */
export const DUE_SHARDS = ["0", "1", "2", "3", "4", "5", "6", "7"] as const;

/** What never changes of a delivery. */
export function fixedAttributes(delivery: Delivery): Record<string, unknown> {
  const { id, createdAt } = delivery;
  return {
    pk: id,
    webhook_id: delivery.webhookId,
    listed_at: `${createdAt.toISOString()}#${id}`,
    workspace_id: delivery.workspaceId,
    event_id: delivery.eventId,
    body: delivery.body,
    expires_at: expiryOf(createdAt),
  };
}

/** What changes; `due_shard` and `due_at` keep a delivery in the index by time while something is left to do. */
export function changingAttributes(delivery: Delivery): Attributes {
  const due = dueAt(delivery);
  return {
    listed: JSON.stringify(listedContent(delivery)),
    manual_requested: delivery.manualRequested,
    manual_attempts: delivery.manualAttempts,
    manual_requested_at: text(delivery.manualRequestedAt),
    lost_attempts: delivery.lostAttempts,
    latest: delivery.latest && attemptAttributes(delivery.latest),
    stopped: delivery.stopped,
    version: delivery.version,
    due_shard: due && shardOf(delivery.id),
    due_at: text(due),
  };
}

/**
 * What lists show, and then what else a look at many deliveries asks for. The index that they are listed by holds it as
 * one text, whose beginning is cut out for a page.
 */
function listedContent(delivery: ListedDelivery) {
  return {
    ...listedDelivery(delivery),
    created_at: delivery.createdAt.toISOString(),
    next_attempt_at: text(delivery.nextAttemptAt),
    automatic_attempts: delivery.automaticAttempts,
  };
}

/** An attempt that a newer one has replaced, as an item of its own. */
export function attemptItem(delivery: Delivery, attempt: Attempt): Record<string, unknown> {
  const key = { pk: delivery.id, sk: String(attempt.number).padStart(6, "0") };
  return { ...key, ...attemptAttributes(attempt), expires_at: expiryOf(delivery.createdAt) };
}

function attemptAttributes({ number, kind, startedAt, outcome }: Attempt): Record<string, unknown> {
  return present({ number, kind, started_at: startedAt.toISOString(), outcome: outcome && outcomeAttributes(outcome) });
}

function outcomeAttributes({ endedAt, durationMs, code, body, truncated, problem }: Outcome): Record<string, unknown> {
  return present({ ended_at: endedAt.toISOString(), duration_ms: durationMs, code, body, truncated, problem });
}

const time = z.pipe(
  z.string(),
  z.transform((value: string) => new Date(value)),
);

const outcomeShape = z.object({
  ended_at: time,
  duration_ms: z.number(),
  code: z._default(z.nullable(z.number()), null),
  body: z.string(),
  truncated: z.boolean(),
  problem: z._default(z.nullable(z.string()), null),
});

const attemptShape = z.object({
  number: z.number(),
  kind: z.enum(["automatic", "manual"]),
  started_at: time,
  outcome: z.optional(outcomeShape),
});

const listedShape = z.object({ pk: z.string(), listed: z.string() });

const contentShape = z.object({
  event: z.enum(EVENT_TYPES),
  created_at: time,
  status: z.enum(["pending", "successful", "failed"]),
  response_code: z.nullable(z.number()),
  delivered_at: z.nullable(time),
  next_attempt_at: z.nullable(time),
  automatic_attempts: z.number(),
});

/** What a list shows of the delivery, as JSON. A text of a version that kept less in it is written anew. */
export function listedRow(item: Readonly<Record<string, unknown>>): string {
  const listed = String(item["listed"]);
  const end = listed.indexOf(',"created_at":');
  return listed.startsWith('{"id":') ? `${listed.slice(0, end)}}` : JSON.stringify(listedDelivery(readListed(item)));
}

/** What a list tells of the delivery that an item, or these attributes of it, hold. */
export function readListed(item: Readonly<Record<string, unknown>>): ListedDelivery {
  const { pk, listed } = listedShape.parse(item);
  const content = contentShape.parse(JSON.parse(listed));
  return {
    id: pk,
    event: content.event,
    createdAt: content.created_at,
    status: content.status,
    responseCode: content.response_code,
    deliveredAt: content.delivered_at,
    nextAttemptAt: content.next_attempt_at,
    automaticAttempts: content.automatic_attempts,
  };
}

const deliveryShape = z.object({
  workspace_id: z.string(),
  webhook_id: z.string(),
  event_id: z.string(),
  body: z.string(),
  manual_requested: z.number(),
  manual_attempts: z.number(),
  manual_requested_at: z.optional(time),
  lost_attempts: z.number(),
  latest: z.optional(attemptShape),
  stopped: z.optional(z.string()),
  version: z.number(),
});

/** The delivery that an item holds. */
export function readDelivery(item: Record<string, unknown>): Delivery {
  const read = deliveryShape.parse(item);
  return {
    ...readListed(item),
    workspaceId: read.workspace_id,
    webhookId: read.webhook_id,
    eventId: read.event_id,
    body: read.body,
    manualRequested: read.manual_requested,
    manualAttempts: read.manual_attempts,
    manualRequestedAt: read.manual_requested_at ?? null,
    lostAttempts: read.lost_attempts,
    latest: read.latest ? toAttempt(read.latest) : null,
    stopped: read.stopped ?? null,
    version: read.version,
  };
}

/** The attempt that an item of the history holds. */
export function readAttempt(item: Record<string, unknown>): Attempt {
  return toAttempt(attemptShape.parse(item));
}

function toAttempt({ number, kind, started_at, outcome }: z.infer<typeof attemptShape>): Attempt {
  return { number, kind, startedAt: started_at, outcome: outcome ? toOutcome(outcome) : null };
}

function toOutcome(outcome: z.infer<typeof outcomeShape>): Outcome {
  const { ended_at, duration_ms, ...rest } = outcome;
  return { ...rest, endedAt: ended_at, durationMs: duration_ms };
}

/** Epoch seconds at which a delivery made then is gone. */
export function expiryOf(createdAt: Date): number {
  return Math.floor(createdAt.getTime() / 1000) + DELIVERY_DAYS * 86_400;
}

function shardOf(id: string): string {
  return DUE_SHARDS[id.charCodeAt(id.length - 1) % DUE_SHARDS.length] ?? DUE_SHARDS[0];
}

const text = (at: Date | null): string | null => at?.toISOString() ?? null;
