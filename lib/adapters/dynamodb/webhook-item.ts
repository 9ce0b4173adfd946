import * as z from "zod/mini";
import { EVENT_TYPES } from "../../model/event.ts";
import type { Webhook } from "../../model/webhook.ts";
import { type Attributes, present } from "./difference.ts";

/** Sort keys of webhooks begin with this; nothing else in a workspace's partition does. */
export const WEBHOOK_PREFIX = "whk_";

/** A webhook as it is created. */
export function webhookItem(webhook: Webhook): Record<string, unknown> {
  return {
    pk: webhook.workspaceId,
    sk: webhook.id,
    created_at: webhook.createdAt.toISOString(),
    ...settableAttributes(webhook),
    ...present(healthAttributes(webhook)),
  };
}

/** What people change. */
export function settableAttributes(webhook: Webhook): Attributes {
  const { current, previous } = webhook.secrets;
  return {
    url: webhook.url,
    events: webhook.events,
    description: webhook.description,
    active: webhook.active,
    secret: current,
    previous_secrets: previous.map(({ secret, until }) => ({ secret, until: until.toISOString() })),
    updated_at: webhook.updatedAt.toISOString(),
    version: webhook.version,
  };
}

/** What attempts change. */
export function healthAttributes({ failingSince, slowUntil }: Pick<Webhook, "failingSince" | "slowUntil">): Attributes {
  return { failing_since: failingSince?.toISOString() ?? null, slow_until: slowUntil?.toISOString() ?? null };
}

const time = z.pipe(
  z.string(),
  z.transform((value: string) => new Date(value)),
);

const webhookShape = z.object({
  pk: z.string(),
  sk: z.string(),
  url: z.string(),
  events: z.array(z.enum(EVENT_TYPES)),
  description: z.string(),
  active: z.boolean(),
  secret: z.string(),
  previous_secrets: z.array(z.object({ secret: z.string(), until: time })),
  created_at: time,
  updated_at: time,
  failing_since: z.optional(time),
  slow_until: z.optional(time),
  version: z.number(),
});

/** The webhook that an item holds. */
export function readWebhook(item: Record<string, unknown>): Webhook {
  const read = webhookShape.parse(item);
  return {
    id: read.sk,
    workspaceId: read.pk,
    url: read.url,
    events: read.events,
    description: read.description,
    active: read.active,
    secrets: { current: read.secret, previous: read.previous_secrets },
    createdAt: read.created_at,
    updatedAt: read.updated_at,
    failingSince: read.failing_since ?? null,
    slowUntil: read.slow_until ?? null,
    version: read.version,
  };
}
