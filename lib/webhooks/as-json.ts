import * as z from "zod/mini";
import { type Attempt, type Delivery, isSuccess, listedDelivery, reasonOf } from "../model/delivery/delivery.ts";
import { EVENT_TYPES } from "../model/delivery/event.ts";
import { isGivenUp, stillSigning, type Webhook } from "../model/delivery/webhook.ts";
import { toSnakeCase } from "../model/snake-case.ts";
import { allows, type Scope } from "../model/workspace/token.ts";

/** A webhook as its owner sees it. Its secret is shown once, when it is created. */
export const webhook = z.object({
  id: z.string(),
  url: z.string(),
  events: z.array(z.enum(EVENT_TYPES)),
  description: z.string(),
  active: z.boolean(),
  failing_since: z.nullable(z.iso.datetime()),
  given_up: z.boolean(),
  previous_secret_valid_until: z.nullable(z.iso.datetime()),
  secret_prepared: z.boolean(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

/** The same with its secret, which is shown this once. */
export const webhookWithSecret = z.extend(webhook, { secret: z.string() });

/** A webhook without its secret, from what is kept. A URL's path can be a secret, so only `admin` sees it. */
export const webhookAsJson = (
  kept: Webhook,
  now: Date,
  scopes: readonly Scope[] = ["admin"],
): z.infer<typeof webhook> =>
  toSnakeCase(webhook, {
    ...kept,
    url: allows(scopes, "admin") ? kept.url : `${new URL(kept.url).origin}/…`,
    givenUp: isGivenUp(kept, now),
    previousSecretValidUntil: stillSigning(kept.secrets, now)[0]?.until ?? null,
    secretPrepared: kept.secrets.next !== null,
  });

/** A delivery with its whole history (contract 6.4.4), for the settings area. */
export function historyAsJson(delivery: Delivery, attempts: readonly Attempt[]) {
  return {
    ...listedDelivery(delivery),
    event_id: delivery.eventId,
    created_at: delivery.createdAt.toISOString(),
    stopped_because: delivery.stopped,
    request_body: delivery.body,
    attempts: attempts.map(attemptAsJson),
  };
}

function attemptAsJson(attempt: Attempt) {
  const { number, kind, startedAt, outcome } = attempt;
  return {
    number,
    kind,
    started_at: startedAt.toISOString(),
    ended_at: iso(outcome?.endedAt ?? null),
    duration_ms: outcome?.durationMs ?? null,
    succeeded: outcome === null ? null : isSuccess(outcome.code),
    response_code: outcome?.code ?? null,
    response_body: outcome?.body ?? null,
    response_body_truncated: outcome?.truncated ?? false,
    reason: reasonOf(attempt),
  };
}

const iso = (at: Date | null): string | null => at?.toISOString() ?? null;
