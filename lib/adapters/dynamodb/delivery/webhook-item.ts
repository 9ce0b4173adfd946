import * as z from "zod/mini";
import { EVENT_TYPES } from "../../../model/delivery/event.ts";
import { MAX_OVERLAP_SECONDS, type Webhook } from "../../../model/delivery/webhook.ts";
import { toCamelCase, toSnakeCase } from "../../../model/snake-case.ts";
import { type Attributes, present } from "../client/difference.ts";
import { optionalTime, storedTime } from "../client/stored-time.ts";

/** Sort keys of webhooks begin with this; nothing else in a workspace's partition does. */
export const WEBHOOK_PREFIX = "whk_";

const settable = z.object({
  url: z.string(),
  events: z.array(z.enum(EVENT_TYPES)),
  description: z.string(),
  active: z.boolean(),
  secret: z.string(),
  /** Up to 0.3.1: one that was prepared, and signs beside the current one already. */
  next_secret: z._default(z.nullable(z.string()), null),
  previous_secrets: z.array(z.object({ secret: z.string(), until: storedTime })),
  updated_at: storedTime,
  version: z.number(),
});

const health = z.object({ failing_since: optionalTime, slow_until: optionalTime });

const webhookShape = z.object({
  pk: z.string(),
  sk: z.string(),
  created_at: storedTime,
  ...settable.shape,
  ...health.shape,
});

/** A webhook as it is created. */
export function webhookItem(webhook: Webhook): Record<string, unknown> {
  return {
    pk: webhook.workspaceId,
    sk: webhook.id,
    created_at: webhook.createdAt.toISOString(),
    ...present(settableAttributes(webhook)),
    ...present(healthAttributes(webhook)),
  };
}

/** What people change. */
export const settableAttributes = ({ secrets, ...webhook }: Webhook): Attributes =>
  toSnakeCase(settable, {
    ...webhook,
    secret: secrets.current,
    nextSecret: null,
    previousSecrets: secrets.previous,
  });

/** What attempts change. */
export const healthAttributes = (webhook: Pick<Webhook, "failingSince" | "slowUntil">): Attributes =>
  toSnakeCase(health, webhook);

/** The webhook that an item holds. */
export function readWebhook(item: Record<string, unknown>): Webhook {
  const stored = toCamelCase(webhookShape, webhookShape.parse(item));
  const { pk, sk, secret: current, nextSecret, previousSecrets: replaced, ...webhook } = stored;
  const until = new Date(webhook.updatedAt.getTime() + MAX_OVERLAP_SECONDS * 1000);
  const previous = nextSecret === null ? replaced : [{ secret: nextSecret, until }, ...replaced];
  return { ...webhook, id: sk, workspaceId: pk, secrets: { current, previous } };
}
