import { type Attempt, type Delivery, isSuccess, listedDelivery, reasonOf } from "../model/delivery.ts";
import { stillSigning, type Webhook } from "../model/webhook.ts";

/** A webhook as its owner sees it; its secret is shown once, when it is made, and never here. */
export function webhookAsJson(webhook: Webhook, now: Date) {
  const [newest] = stillSigning(webhook.secrets, now);
  return {
    id: webhook.id,
    url: webhook.url,
    events: webhook.events,
    description: webhook.description,
    active: webhook.active,
    failing_since: iso(webhook.failingSince),
    previous_secret_valid_until: iso(newest?.until ?? null),
    created_at: webhook.createdAt.toISOString(),
    updated_at: webhook.updatedAt.toISOString(),
  };
}

/** A delivery with its whole history (spec 6.4.4), for the settings area. */
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
