import type { Vault } from "../access/ports.ts";
import {
  ATTEMPT_SECONDS,
  type Attempt,
  afterAttempt,
  begin,
  CLAIM_SECONDS,
  type Delivery,
  dueAt,
  isHopeless,
  isSuccess,
  judge,
  type Outcome,
  stop,
  type WakeUp,
  wakeUpsOf,
} from "../model/delivery/delivery.ts";
import {
  isSlow,
  SLOW_ATTEMPTS,
  SLOW_MILLISECONDS,
  SLOW_SECONDS,
  stillSigning,
  type Webhook,
} from "../model/delivery/webhook.ts";
import type { BookedWakeUp, Deliveries, DeliveryQueue, Semaphore, Sender, WakeUps, Webhooks } from "./ports.ts";
import { signedRequest } from "./sign.ts";

/** What making attempts needs. */
export interface DeliverNeeds {
  readonly deliveries: Deliveries;
  readonly webhooks: Pick<Webhooks, "readMany" | "noteHealth">;
  readonly wakeUps: WakeUps;
  readonly slots: Semaphore;
  readonly vault: Pick<Vault, "open">;
  readonly sender: Sender;
  readonly now: () => Date;
  /** Whose attempts these workers make. */
  readonly queue: DeliveryQueue;
}

interface Batch extends DeliverNeeds {
  /** From then on no attempt of the batch begins but the first ten of each webhook. */
  readonly endsAt: Date;
  readonly faults: Fault[];
}

/** What kept a wake-up from its end; it must be woken again. */
interface Fault {
  readonly wakeUp: WakeUp;
  readonly fault: unknown;
}

/** A wake-up with its delivery, as the batch read it. */
interface Woken {
  readonly wakeUp: WakeUp;
  readonly delivery: Delivery;
}

/**
 * A delivery without a slot comes back after about as long as it has waited already, between these: a backlog of
 * thousands then takes a small share of it.
 */
const COME_BACK_SECONDS = [30, 300] as const;

/** Wake-ups of one delivery at the same moment that lose to one another before they give way. */
const ROUNDS = 5;

/**
 * Sends the attempts of these wake-ups, ten at a time for each webhook, stores their results, and books what follows. A
 * batch begins attempts for five seconds; what is left then is booked again, so that no receiver holds a worker for
 * longer than ten. Gives those that a fault kept from ending, with the fault; they must be woken again.
 */
export async function deliver(needs: DeliverNeeds, wakeUps: readonly WakeUp[]): Promise<readonly Fault[]> {
  const deliveries = await needs.deliveries.read([...new Set(wakeUps.map(({ deliveryId }) => deliveryId))]);
  const webhooks = await needs.webhooks.readMany(deliveries);
  const batch = { ...needs, endsAt: secondsAfter(needs.now(), ATTEMPT_SECONDS), faults: [] };
  // Those without a delivery are past its thirty days.
  const found = wakeUps.flatMap((wakeUp) => {
    const delivery = deliveries.find(({ id }) => id === wakeUp.deliveryId);
    return delivery ? [{ wakeUp, delivery }] : [];
  });
  const byWebhook = Map.groupBy(found, ({ delivery }) => delivery.webhookId);
  await Promise.all(
    [...byWebhook].map(([id, woken]) => serve(batch, webhooks.find((webhook) => webhook.id === id) ?? null, woken)),
  );
  return batch.faults;
}

async function serve(batch: Batch, webhook: Webhook | null, woken: readonly Woken[]): Promise<void> {
  const now = batch.now();
  const work = ({ wakeUp, delivery }: Woken) =>
    answer(batch, wakeUp, delivery, webhook).catch((fault: unknown) => batch.faults.push({ wakeUp, fault }));
  const isDue = ({ wakeUp, delivery }: Woken) =>
    judge(delivery, wakeUp, now).verdict === "attempt" && obstacleOf(wakeUp, webhook) === null;
  const { due = [], other = [] } = Object.groupBy(woken, (one) => (isDue(one) ? "due" : "other"));
  const left = [...due];
  const attempts = webhook === null ? [] : [attemptAll(batch, webhook, left, work)];
  const ends = await Promise.allSettled([...other.map(work), ...attempts]);
  const fault = ends.find(({ status }) => status === "rejected") as PromiseRejectedResult | undefined;
  if (fault) batch.faults.push(...left.map(({ wakeUp }) => ({ wakeUp, fault: fault.reason as unknown })));
}

/**
 * Takes from `left` what it begins or books. A slow webhook's attempts are sent in the slow queue, limited by its slots,
 * so that it binds few workers; what finds no slot comes back later. What is booked goes ten a call, so that a backlog of
 * thousands costs the queues little.
 */
async function attemptAll(
  batch: Batch,
  webhook: Webhook,
  left: Woken[],
  work: (one: Woken) => Promise<unknown>,
): Promise<void> {
  const began = batch.now();
  const takesSlots = isSlow(webhook, began);
  if (takesSlots && batch.queue === "quick") return bookAll(batch, left, began, "slow");
  const run = async (holder: string) => {
    // The first one even if the time is up: what is only sent on makes no progress when processors are short. None where
    // the other runners were quicker than the taking of the slot.
    for (let one = left.shift(); one; one = batch.now() < batch.endsAt ? left.shift() : undefined) await work(one);
    // A slot that cannot be given back expires.
    if (takesSlots) await batch.slots.giveBack(webhook.id, holder).catch(() => {});
  };
  const runners: Promise<void>[] = [];
  try {
    for (let [next] = left; next && runners.length < SLOW_ATTEMPTS; [next] = left) {
      const holder = next.delivery.id;
      const until = secondsAfter(batch.now(), CLAIM_SECONDS);
      if (takesSlots && !(await batch.slots.take(webhook.id, holder, until))) break;
      runners.push(run(holder));
    }
  } finally {
    await Promise.all(runners);
  }
  const [next] = left;
  if (!next) return;
  const now = batch.now();
  if (!takesSlots) return bookAll(batch, left, now, batch.queue);
  const until = secondsAfter(now, comeBackAfter(next.delivery, now));
  const waiting = left.map(({ delivery }) => delivery);
  await batch.deliveries.postpone(waiting, until);
  await bookAll(batch, left, until, batch.queue);
}

/** Empties `left` once all are booked. */
async function bookAll(batch: Batch, left: Woken[], at: Date, queue: DeliveryQueue): Promise<void> {
  await batch.wakeUps.send(left.map(({ wakeUp, delivery: { webhookId } }) => ({ ...wakeUp, webhookId, at, queue })));
  left.length = 0;
}

/** Seconds, half as many or half as many again at random, so that those of one moment spread. */
function comeBackAfter(delivery: Delivery, now: Date): number {
  const [shortest, longest] = COME_BACK_SECONDS;
  const waited = (now.getTime() - (dueAt(delivery) ?? now).getTime()) / 1000;
  return Math.floor(Math.min(Math.max(waited, shortest), longest) * (0.5 + Math.random()));
}

async function answer(needs: DeliverNeeds, wakeUp: WakeUp, read: Delivery, webhook: Webhook | null): Promise<void> {
  let delivery = read;
  for (let round = 1; round <= ROUNDS; round += 1) {
    if (await tryOnce(needs, wakeUp, delivery, webhook)) return;
    const [fresh] = await needs.deliveries.read([delivery.id]);
    if (!fresh) return;
    delivery = fresh;
  }
  throw new Error(`delivery ${delivery.id} changed ${ROUNDS} times while its attempt was to begin`);
}

/** False when another worker wrote the delivery first, so that it has to be judged again. */
async function tryOnce(
  needs: DeliverNeeds,
  wakeUp: WakeUp,
  delivery: Delivery,
  webhook: Webhook | null,
): Promise<boolean> {
  const now = needs.now();
  const verdict = judge(delivery, wakeUp, now);
  if (verdict.verdict === "drop") return true;
  if (verdict.verdict === "wait") {
    const { wakeUps, queue } = needs;
    await wakeUps.send([{ ...wakeUp, webhookId: delivery.webhookId, at: verdict.until, queue }]);
    return true;
  }
  const obstacle = obstacleOf(wakeUp, webhook);
  if (webhook === null || obstacle !== null) {
    return needs.deliveries.replace(delivery, stop(delivery, obstacle ?? "the webhook is gone"));
  }
  return makeAttempt(needs, webhook, delivery, wakeUp, now);
}

/** Why the schedule of a delivery ends here; null when nothing prevents it. A manual attempt is always sent. */
function obstacleOf({ kind }: WakeUp, webhook: Webhook | null): string | null {
  if (webhook === null) return "the webhook was deleted";
  return webhook.active || kind === "manual" ? null : "the webhook was deactivated";
}

async function makeAttempt(
  needs: DeliverNeeds,
  webhook: Webhook,
  delivery: Delivery,
  wakeUp: WakeUp,
  now: Date,
): Promise<boolean> {
  const claimed = begin(delivery, wakeUp.kind, now);
  const attempt = claimed.latest;
  if (attempt === null || !(await needs.deliveries.replace(delivery, claimed))) return false;
  const outcome = isHopeless(claimed) ? hopeless(now) : await post(needs, webhook, claimed, attempt);
  const settled = await settle(needs, claimed, attempt, outcome);
  if (settled) await needs.wakeUps.send(whatFollows(settled, wakeUp, needs.queue));
  await noteHealth(needs, webhook, outcome);
  return true;
}

async function post(needs: DeliverNeeds, webhook: Webhook, delivery: Delivery, attempt: Attempt): Promise<Outcome> {
  const open = (sealed: string) => needs.vault.open(webhook.workspaceId, sealed);
  const replaced = stillSigning(webhook.secrets, attempt.startedAt);
  const [current, previous] = await Promise.all([
    open(webhook.secrets.current),
    Promise.all(replaced.map(({ secret }) => open(secret))),
  ]);
  const request = signedRequest(webhook.url, delivery, attempt, { current, previous });
  const noted = setTimeout(() => noteSlow(needs, webhook), SLOW_MILLISECONDS);
  try {
    return { ...(await needs.sender.post(request)), endedAt: needs.now() };
  } finally {
    clearTimeout(noted);
  }
}

/** Before the attempt has ended: its workers' next batches then leave the webhook alone. What fails here is noted at the end. */
function noteSlow({ webhooks, now }: DeliverNeeds, { id, workspaceId, failingSince, slowUntil }: Webhook): void {
  if (slowUntil !== null && slowUntil > now()) return;
  const health = { failingSince, slowUntil: secondsAfter(now(), SLOW_SECONDS) };
  webhooks.noteHealth({ workspaceId, webhookId: id }, health).catch(() => {});
}

function hopeless(now: Date): Outcome {
  const problem =
    "the service failed too often in the middle of this attempt; the operator finds the reason in its logs";
  return { endedAt: now, durationMs: 0, code: null, body: "", truncated: false, problem };
}

/** The delivery with its attempt's outcome; null when the attempt was given up as lost before its result. */
async function settle(
  { deliveries }: DeliverNeeds,
  claimed: Delivery,
  attempt: Attempt,
  outcome: Outcome,
): Promise<Delivery | null> {
  let before = claimed;
  for (;;) {
    const after = afterAttempt(before, attempt, outcome);
    if (await deliveries.replace(before, after)) return after;
    const [fresh] = await deliveries.read([claimed.id]);
    if (!fresh) return null;
    if (fresh.latest?.number !== attempt.number) {
      await deliveries.recordLate(fresh, { ...attempt, outcome });
      return null;
    }
    // No other worker writes this attempt's outcome: it was written, and only the answer to the write was lost.
    if (fresh.latest.outcome !== null) return fresh;
    before = fresh; // a manual attempt was requested meanwhile
  }
}

/** After an automatic attempt the next one; after a manual one those that the same wake-up still asks for. */
function whatFollows(delivery: Delivery, wakeUp: WakeUp, queue: DeliveryQueue): readonly BookedWakeUp[] {
  const { webhookId, nextAttemptAt } = delivery;
  if (wakeUp.kind === "manual") {
    return delivery.manualAttempts < wakeUp.number ? [{ ...wakeUp, webhookId, at: delivery.createdAt, queue }] : [];
  }
  if (nextAttemptAt === null) return [];
  const next = wakeUpsOf(delivery).filter(({ kind }) => kind === "automatic");
  return next.map((one) => ({ ...one, webhookId, at: nextAttemptAt, queue: "quick" }));
}

/** Writes the edges only: a webhook that keeps failing, or answering, costs nothing. */
async function noteHealth({ webhooks }: DeliverNeeds, webhook: Webhook, outcome: Outcome): Promise<void> {
  const { endedAt, durationMs, code } = outcome;
  const failingSince = isSuccess(code) ? null : (webhook.failingSince ?? endedAt);
  const wasNotedLately = isSlow(webhook, secondsAfter(endedAt, SLOW_SECONDS / 2));
  const slowUntil =
    durationMs >= SLOW_MILLISECONDS && !wasNotedLately ? secondsAfter(endedAt, SLOW_SECONDS) : webhook.slowUntil;
  if (failingSince === webhook.failingSince && slowUntil === webhook.slowUntil) return;
  const key = { workspaceId: webhook.workspaceId, webhookId: webhook.id };
  await webhooks.noteHealth(key, { failingSince, slowUntil });
}

const secondsAfter = (from: Date, seconds: number): Date => new Date(from.getTime() + seconds * 1000);
