import type { Vault } from "../access/ports.ts";
import {
  type Attempt,
  afterAttempt,
  begin,
  CLAIM_SECONDS,
  type Delivery,
  isHopeless,
  isSuccess,
  judge,
  type Outcome,
  stop,
  type WakeUp,
  wakeUpsOf,
} from "../model/delivery/delivery.ts";
import { isSlow, SLOW_MILLISECONDS, SLOW_SECONDS, stillSigning, type Webhook } from "../model/delivery/webhook.ts";
import type { BookedWakeUp, Deliveries, Lane, Semaphore, Sender, WakeUps, Webhooks } from "./ports.ts";
import { signedRequest } from "./sign.ts";

/** What making attempts needs. */
export interface DeliverNeeds {
  readonly deliveries: Deliveries;
  readonly webhooks: Pick<Webhooks, "readMany" | "noteHealth">;
  readonly wakeUps: WakeUps;
  readonly turns: Semaphore;
  readonly vault: Pick<Vault, "open">;
  readonly sender: Sender;
  readonly now: () => Date;
  /** Whose attempts these workers make. */
  readonly lane: Lane;
}

/** One batch; `crowded` are the webhooks that had no turn left when one of the batch asked. */
interface Batch extends DeliverNeeds {
  readonly crowded: Set<string>;
}

/** Whoever finds no turn comes back after a random time between these. */
const COME_BACK_SECONDS = [15, 45] as const;

/** Wake-ups of one delivery at the same moment that lose to one another before they give way. */
const ROUNDS = 5;

/**
 * Makes the attempts that these wake-ups stand for, all at once, keeps what came of them, and books what follows.
 * Gives those that a fault kept from ending, with the fault; they are to be woken again.
 */
export async function deliver(
  needs: DeliverNeeds,
  wakeUps: readonly WakeUp[],
): Promise<readonly { readonly wakeUp: WakeUp; readonly fault: unknown }[]> {
  const deliveries = await needs.deliveries.read([...new Set(wakeUps.map(({ deliveryId }) => deliveryId))]);
  const webhooks = await needs.webhooks.readMany(deliveries);
  const batch = { ...needs, crowded: new Set<string>() };
  const ended = await Promise.allSettled(
    wakeUps.map(async (wakeUp) => {
      const delivery = deliveries.find(({ id }) => id === wakeUp.deliveryId);
      if (!delivery) return; // past its thirty days
      await answer(batch, wakeUp, delivery, webhooks.find(({ id }) => id === delivery.webhookId) ?? null);
    }),
  );
  return wakeUps.flatMap((wakeUp, at) => {
    const end = ended[at];
    return end?.status === "rejected" ? [{ wakeUp, fault: end.reason as unknown }] : [];
  });
}

async function answer(needs: Batch, wakeUp: WakeUp, read: Delivery, webhook: Webhook | null): Promise<void> {
  let delivery = read;
  for (let round = 1; round <= ROUNDS; round += 1) {
    if (await tryOnce(needs, wakeUp, delivery, webhook)) return;
    const [fresh] = await needs.deliveries.read([delivery.id]);
    if (!fresh) return;
    delivery = fresh;
  }
  throw new Error(`delivery ${delivery.id} changed ${ROUNDS} times while its attempt was to begin`);
}

/** False when somebody else wrote the delivery first, so that it has to be judged again. */
async function tryOnce(needs: Batch, wakeUp: WakeUp, delivery: Delivery, webhook: Webhook | null): Promise<boolean> {
  const now = needs.now();
  const verdict = judge(delivery, wakeUp, now);
  if (verdict.verdict === "drop") return true;
  if (verdict.verdict === "wait") return book(needs, delivery, wakeUp, verdict.until);
  const obstacle = obstacleOf(wakeUp, webhook);
  if (webhook === null || obstacle !== null) {
    return needs.deliveries.replace(delivery, stop(delivery, obstacle ?? "the webhook is gone"));
  }
  return takeTurn(needs, webhook, delivery, wakeUp, now);
}

/** Why the schedule of a delivery ends here; null when nothing is in its way. Somebody who asks for an attempt gets it. */
function obstacleOf({ kind }: WakeUp, webhook: Webhook | null): string | null {
  if (webhook === null) return "the webhook was deleted";
  return webhook.active || kind === "manual" ? null : "the webhook was deactivated";
}

/**
 * A slow webhook's attempts are made in the slow lane and take turns there, so that it binds few workers; whoever finds
 * no turn comes back later.
 */
async function takeTurn(
  needs: Batch,
  webhook: Webhook,
  delivery: Delivery,
  wakeUp: WakeUp,
  now: Date,
): Promise<boolean> {
  if (!isSlow(webhook, now)) return makeAttempt(needs, webhook, delivery, wakeUp, now);
  if (needs.lane === "quick") return book(needs, delivery, wakeUp, now, "slow");
  if (!(await hasTurn(needs, webhook, delivery, now))) {
    const [soonest, latest] = COME_BACK_SECONDS;
    const until = secondsAfter(now, soonest + Math.floor(Math.random() * (latest - soonest)));
    await needs.deliveries.postpone([delivery], until);
    return book(needs, delivery, wakeUp, until);
  }
  try {
    return await makeAttempt(needs, webhook, delivery, wakeUp, now);
  } finally {
    await needs.turns.giveBack(webhook.id, delivery.id);
  }
}

async function hasTurn({ turns, crowded }: Batch, webhook: Webhook, delivery: Delivery, now: Date): Promise<boolean> {
  if (crowded.has(webhook.id)) return false;
  if (await turns.take(webhook.id, delivery.id, secondsAfter(now, CLAIM_SECONDS))) return true;
  crowded.add(webhook.id);
  return false;
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
  if (settled) await needs.wakeUps.send(whatFollows(settled, wakeUp, needs.lane));
  await noteHealth(needs, webhook, outcome);
  return true;
}

async function post(needs: DeliverNeeds, webhook: Webhook, delivery: Delivery, attempt: Attempt): Promise<Outcome> {
  const { current } = webhook.secrets;
  const previous = stillSigning(webhook.secrets, attempt.startedAt).map(({ secret }) => secret);
  const [opened = "", ...older] = await Promise.all(
    [current, ...previous].map((sealed) => needs.vault.open(webhook.workspaceId, sealed)),
  );
  const request = signedRequest(webhook.url, delivery, attempt, { current: opened, previous: older });
  return { ...(await needs.sender.post(request)), endedAt: needs.now() };
}

function hopeless(now: Date): Outcome {
  const problem =
    "the service failed too often in the middle of this attempt; the operator finds the reason in its logs";
  return { endedAt: now, durationMs: 0, code: null, body: "", truncated: false, problem };
}

/** The delivery with its attempt's outcome; null when the attempt was given up as lost before it could tell. */
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
    // Nobody else tells this attempt's outcome: it was written, and only the answer to the write was lost.
    if (fresh.latest.outcome !== null) return fresh;
    before = fresh; // somebody asked for a manual attempt meanwhile
  }
}

/** After an automatic attempt the next one; after a manual one those that the same wake-up still stands for. */
function whatFollows(delivery: Delivery, wakeUp: WakeUp, lane: Lane): readonly BookedWakeUp[] {
  const { webhookId, nextAttemptAt } = delivery;
  if (wakeUp.kind === "manual") {
    return delivery.manualAttempts < wakeUp.number ? [{ ...wakeUp, webhookId, at: delivery.createdAt, lane }] : [];
  }
  if (nextAttemptAt === null) return [];
  const next = wakeUpsOf(delivery).filter(({ kind }) => kind === "automatic");
  return next.map((one) => ({ ...one, webhookId, at: nextAttemptAt, lane: "slow" }));
}

async function book(
  { wakeUps, lane: own }: DeliverNeeds,
  { webhookId }: Delivery,
  wakeUp: WakeUp,
  at: Date,
  lane: Lane = own,
): Promise<true> {
  await wakeUps.send([{ ...wakeUp, webhookId, at, lane }]);
  return true;
}

/** Writes the edges only: a webhook that goes on failing, or answering, costs nothing. */
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
