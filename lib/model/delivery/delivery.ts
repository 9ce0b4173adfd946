import type { EventDetails, EventType } from "./event.ts";

/** Delays before the automatic retries of a failed delivery, in order (contract 6.4.2). */
export const RETRY_DELAYS_SECONDS = [30, 5 * 60, 30 * 60, 2 * 60 * 60] as const;

/** From the first failure of a delivery to its last retry. */
export const SCHEDULE_SECONDS = RETRY_DELAYS_SECONDS.reduce((sum, delay) => sum + delay, 0);

/** An attempt's wall clock: DNS, connection, TLS, headers and status (contract 6.4.1). */
export const ATTEMPT_SECONDS = 5;

/** How long a claimed attempt belongs to its worker: as long as its function may run. */
export const CLAIM_SECONDS = 30;

/** Bytes of a response's body that the history keeps (contract 6.4.4). */
export const RESPONSE_BODY_BYTES = 1024;

/** Attempts in a row whose worker died that are repeated without counting; the next one counts as a failed one. */
const FREE_LOSSES = 5;

export const DELIVERY_STATUSES = ["pending", "successful", "failed"] as const;

/** `pending` until the first attempt has ended, then what the last one came to (contract 3.5). */
type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Automatic ones are the schedule's; manual ones were requested (contract 6.4.5). */
export type AttemptKind = "automatic" | "manual";

/** One POST. */
export interface Attempt {
  /** Counts all attempts of the delivery from 1, of either kind. */
  readonly number: number;
  readonly kind: AttemptKind;
  readonly startedAt: Date;
  /** Null while it runs, and for ever when its worker died. */
  readonly outcome: Outcome | null;
}

/** The result of an attempt. */
export interface Outcome {
  readonly endedAt: Date;
  readonly durationMs: number;
  /** HTTP status; null when none came in time. */
  readonly code: number | null;
  /** The first 1,024 bytes of the response. */
  readonly body: string;
  readonly truncated: boolean;
  /** Why there is no status, in words; null when there is one. */
  readonly problem: string | null;
}

/** One event for one webhook. */
export interface Delivery {
  readonly id: string;
  readonly workspaceId: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly event: EventType;
  /** The request's body, the same bytes on every attempt. */
  readonly body: string;
  readonly createdAt: Date;
  readonly status: DeliveryStatus;
  /** HTTP status of the last attempt that has ended; null when it got none, or none has ended. */
  readonly responseCode: number | null;
  /** When that attempt ended. */
  readonly deliveredAt: Date | null;
  /** When the next automatic attempt is due; null: there is none. */
  readonly nextAttemptAt: Date | null;
  /** Automatic attempts that have ended. */
  readonly automaticAttempts: number;
  /** Manual attempts asked for, and those of them that have ended. */
  readonly manualRequested: number;
  readonly manualAttempts: number;
  /** When the last manual attempt was asked for. */
  readonly manualRequestedAt: Date | null;
  /** Attempts since the last finished one whose worker died before it stored a result. */
  readonly lostAttempts: number;
  /** The newest attempt; null before the first. */
  readonly latest: Attempt | null;
  /** Why the schedule ended before its time, in words; null when it did not. */
  readonly stopped: string | null;
  /** Rises with every change. */
  readonly version: number;
}

/** What a list shows of a delivery, without its bodies and its history. */
export type ListedDelivery = Pick<
  Delivery,
  "id" | "event" | "createdAt" | "status" | "responseCode" | "deliveredAt" | "nextAttemptAt" | "automaticAttempts"
>;

/** Which deliveries of a webhook a list shows; undefined does not filter. */
export interface DeliveryFilter {
  readonly status?: DeliveryStatus | undefined;
  readonly event?: EventType | undefined;
}

/** Deliveries that are looked at to count outcomes, the latest ones: not more than one request should read. */
export const LOOKED_AT_DELIVERIES = 500;

/** How many deliveries have come to each status so far. */
export type Outcomes = Readonly<Record<DeliveryStatus, number>>;

export function outcomesOf(deliveries: readonly ListedDelivery[]): Outcomes {
  const count = (wanted: DeliveryStatus) => deliveries.filter(({ status }) => status === wanted).length;
  return { successful: count("successful"), failed: count("failed"), pending: count("pending") };
}

/** What a wake-up wants: the schedule's attempt of this number, or as many manual ones as this number. */
export interface WakeUp {
  readonly deliveryId: string;
  readonly kind: AttemptKind;
  readonly number: number;
}

/** What to do for a wake-up. */
export type Verdict =
  | { readonly verdict: "attempt" }
  /** Too early, or an attempt is under way: come again then. */
  | { readonly verdict: "wait"; readonly until: Date }
  /** The delivery has moved on. */
  | { readonly verdict: "drop" };

/** A delivery as the dispatcher makes it. */
export function newDelivery(
  made: Pick<Delivery, "id" | "workspaceId" | "webhookId" | "eventId" | "event" | "body" | "createdAt">,
): Delivery {
  return {
    ...made,
    status: "pending",
    responseCode: null,
    deliveredAt: null,
    nextAttemptAt: made.createdAt,
    automaticAttempts: 0,
    manualRequested: 0,
    manualAttempts: 0,
    manualRequestedAt: null,
    lostAttempts: 0,
    latest: null,
    stopped: null,
    version: 0,
  };
}

/** Judges a wake-up against the delivery as it is. Only a delivery that has moved on drops one. */
export function judge(delivery: Delivery, { kind, number }: WakeUp, now: Date): Verdict {
  const due = kind === "manual" ? manualDue(delivery, number) : automaticDue(delivery, number);
  if (due === null) return { verdict: "drop" };
  const until = Math.max(due.getTime(), claimedUntil(delivery)?.getTime() ?? 0);
  if (until <= now.getTime()) return { verdict: "attempt" };
  // A manual attempt waits for the one under way, but not for all the time that it may take.
  const latest = kind === "manual" ? now.getTime() + 1000 : until;
  return { verdict: "wait", until: new Date(Math.min(until, latest)) };
}

function automaticDue(delivery: Delivery, number: number): Date | null {
  return delivery.automaticAttempts >= number ? null : delivery.nextAttemptAt;
}

function manualDue(delivery: Delivery, number: number): Date | null {
  return delivery.manualAttempts >= number ? null : (delivery.manualRequestedAt ?? delivery.createdAt);
}

/** Until when the attempt under way belongs to its worker; null when none is. */
function claimedUntil({ latest }: Delivery): Date | null {
  if (latest === null || latest.outcome !== null) return null;
  return new Date(latest.startedAt.getTime() + CLAIM_SECONDS * 1000);
}

/** The delivery with its next attempt under way. An older one that is still open was lost with its worker. */
export function begin(delivery: Delivery, kind: AttemptKind, now: Date): Delivery {
  const lost = delivery.latest !== null && delivery.latest.outcome === null;
  const number = (delivery.latest?.number ?? 0) + 1;
  return {
    ...delivery,
    lostAttempts: delivery.lostAttempts + (lost ? 1 : 0),
    latest: { number, kind, startedAt: now, outcome: null },
    version: delivery.version + 1,
  };
}

/** Whether our own faults have cost so many attempts that another one without counting would never end. */
export function isHopeless(delivery: Delivery): boolean {
  return delivery.lostAttempts > FREE_LOSSES;
}

/**
 * The delivery after its attempt. Only automatic attempts move along the schedule; a success of either kind ends it
 * (contract 3.5).
 */
export function afterAttempt(delivery: Delivery, attempt: Attempt, outcome: Outcome): Delivery {
  const isManual = attempt.kind === "manual";
  const automaticAttempts = delivery.automaticAttempts + (isManual ? 0 : 1);
  const ended = {
    ...delivery,
    latest: { ...attempt, outcome },
    responseCode: outcome.code,
    deliveredAt: outcome.endedAt,
    automaticAttempts,
    manualAttempts: delivery.manualAttempts + (isManual ? 1 : 0),
    lostAttempts: 0,
    version: delivery.version + 1,
  };
  if (isSuccess(outcome.code)) return { ...ended, status: "successful", nextAttemptAt: null };
  if (isManual) return { ...ended, status: "failed" };
  const nextAttemptAt = delivery.nextAttemptAt === null ? null : retryAfter(automaticAttempts, outcome.endedAt);
  return { ...ended, status: "failed", nextAttemptAt };
}

/** Any 2xx is success (contract 6.4.1). */
export function isSuccess(code: number | null): boolean {
  return code !== null && code >= 200 && code < 300;
}

/** Null once the schedule is spent: from then on only a manual retry queues another attempt. */
function retryAfter(automaticAttempts: number, failedAt: Date): Date | null {
  const seconds = RETRY_DELAYS_SECONDS[automaticAttempts - 1];
  return seconds === undefined ? null : new Date(failedAt.getTime() + seconds * 1000);
}

/** The delivery with one more manual attempt asked for. */
export function askForAttempt(delivery: Delivery, now: Date): Delivery {
  return {
    ...delivery,
    manualRequested: delivery.manualRequested + 1,
    manualRequestedAt: now,
    version: delivery.version + 1,
  };
}

/** The delivery with its schedule ended: what waits for an automatic attempt waits no more. */
export function stop(delivery: Delivery, why: string): Delivery {
  return { ...delivery, status: "failed", nextAttemptAt: null, stopped: why, version: delivery.version + 1 };
}

/** When a worker should have handled the delivery; null when nothing is left to do. The sweeper reads it. */
export function dueAt(delivery: Delivery): Date | null {
  if (delivery.manualAttempts < delivery.manualRequested) return delivery.manualRequestedAt;
  return delivery.nextAttemptAt;
}

/** What a delivery waits for, as wake-ups. */
export function wakeUpsOf(delivery: Delivery): readonly WakeUp[] {
  const { id: deliveryId, automaticAttempts, manualAttempts, manualRequested, nextAttemptAt } = delivery;
  return [
    ...(nextAttemptAt === null ? [] : [{ deliveryId, kind: "automatic" as const, number: automaticAttempts + 1 }]),
    ...(manualAttempts < manualRequested ? [{ deliveryId, kind: "manual" as const, number: manualRequested }] : []),
  ];
}

/** A delivery as the contract's list shows it (contract 2.12). */
export function listedDelivery(delivery: ListedDelivery) {
  return {
    id: delivery.id,
    event: delivery.event,
    status: delivery.status,
    response_code: delivery.responseCode,
    delivered_at: delivery.deliveredAt?.toISOString() ?? null,
    next_retry_at: nextRetryAt(delivery)?.toISOString() ?? null,
  };
}

/** What a delivery's event is about, as its body's `data` says. */
export function subjectOf({ body }: Pick<Delivery, "body">) {
  const { data = {} } = JSON.parse(body) as { readonly data?: Partial<EventDetails["record.failed"]> };
  const { mapping_id = "", sf_object = "", table_name, record_id } = data;
  return { mapping_id, sf_object, table_name: table_name ?? null, record_id: record_id ?? null };
}

/** `next_retry_at` as the API shows it (contract 2.12): the first attempt is no retry. */
export function nextRetryAt({ automaticAttempts, nextAttemptAt }: ListedDelivery): Date | null {
  return automaticAttempts === 0 ? null : nextAttemptAt;
}

/** Why an attempt failed, in words; null when it succeeded. */
export function reasonOf({ outcome }: Attempt): string | null {
  if (outcome === null) return "under way, or ended without a result: the receiver may have got it, so it is repeated";
  if (outcome.code === null) return outcome.problem;
  if (isSuccess(outcome.code)) return null;
  if (outcome.code >= 300 && outcome.code < 400) {
    return `answered ${outcome.code}: redirects are not followed; give the webhook the final URL`;
  }
  return `answered ${outcome.code}`;
}
