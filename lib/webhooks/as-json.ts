import * as z from "zod/mini";
import { type Attempt, type Delivery, isSuccess, nextRetryAt, reasonOf } from "../model/delivery/delivery.ts";
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
  });

/** A delivery with its whole history (contract 6.4.4), for the settings area. */
export const withHistory = (delivery: Delivery, attempts: readonly Attempt[]) => ({
  ...delivery,
  nextRetryAt: nextRetryAt(delivery),
  stoppedBecause: delivery.stopped,
  requestBody: delivery.body,
  attempts: attempts.map((attempt) => ({
    ...attempt,
    endedAt: attempt.outcome?.endedAt ?? null,
    durationMs: attempt.outcome?.durationMs ?? null,
    succeeded: attempt.outcome && isSuccess(attempt.outcome.code),
    responseCode: attempt.outcome?.code ?? null,
    responseBody: attempt.outcome?.body ?? null,
    responseBodyTruncated: attempt.outcome?.truncated ?? false,
    reason: reasonOf(attempt),
  })),
});
