import { type Delivery, type WakeUp, wakeUpsOf } from "../model/delivery/delivery.ts";
import type { BookedWakeUp, Events, Overdue, WakeUps } from "./ports.ts";

interface Needs {
  readonly overdue: Overdue;
  readonly events: Pick<Events, "wake">;
  readonly wakeUps: WakeUps;
  readonly now: () => Date;
}

/** What is this late has lost its wake-up, or its worker. */
const LATE_SECONDS = 60;

/** Nothing is sent again more often than this. */
const PAUSE_SECONDS = 5 * 60;

/**
 * Wakes a worker for every event and delivery that is overdue, each at most every five minutes, until nothing is left
 * or `isTimeUp` says so; what is left then comes first the next time. Gives how many it woke.
 */
export async function resendOverdue(
  needs: Needs,
  isTimeUp: () => boolean = () => false,
): Promise<{ readonly events: number; readonly deliveries: number }> {
  const events = await resendEvents(needs, isTimeUp);
  return { events, deliveries: await resendDeliveries(needs, isTimeUp) };
}

async function resendEvents({ overdue, events, now }: Needs, isTimeUp: () => boolean): Promise<number> {
  let woken = 0;
  for await (const late of overdue.events(before(now(), LATE_SECONDS))) {
    await events.wake(late);
    await overdue.postponeEvents(late, nextLook(now()));
    woken += late.length;
    if (isTimeUp()) break;
  }
  return woken;
}

async function resendDeliveries({ overdue, wakeUps, now }: Needs, isTimeUp: () => boolean): Promise<number> {
  let woken = 0;
  for await (const deliveries of overdue.deliveries(before(now(), LATE_SECONDS))) {
    await wakeUps.send(deliveries.flatMap((delivery) => booked(delivery, now())));
    await overdue.postponeDeliveries(deliveries, nextLook(now()));
    woken += deliveries.length;
    if (isTimeUp()) break;
  }
  return woken;
}

function booked(delivery: Delivery, at: Date): readonly BookedWakeUp[] {
  const { webhookId, nextAttemptAt } = delivery;
  const isDue = ({ kind }: WakeUp) => kind === "manual" || (nextAttemptAt !== null && nextAttemptAt <= at);
  return wakeUpsOf(delivery)
    .filter(isDue)
    .map((wakeUp) => ({ ...wakeUp, webhookId, at, queue: "slow" }));
}

/** What is postponed until then is late again when the pause is over. */
const nextLook = (now: Date): Date => before(now, LATE_SECONDS - PAUSE_SECONDS);

const before = (now: Date, seconds: number): Date => new Date(now.getTime() - seconds * 1000);
