import { type Delivery, type WakeUp, wakeUpsOf } from "../model/delivery/delivery.ts";
import type { Event } from "../model/delivery/event.ts";
import type { BookedWakeUp, Events, Overdue, WakeUps } from "./ports.ts";

interface Needs {
  readonly rows: Overdue<Event>;
  readonly deliveries: Overdue<Delivery>;
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
  { rows, deliveries, events, wakeUps, now }: Needs,
  isTimeUp: () => boolean = () => false,
): Promise<{ readonly events: number; readonly deliveries: number }> {
  const resend = async <Thing>(
    { late, postpone }: Overdue<Thing>,
    wake: (things: readonly Thing[]) => Promise<void>,
  ) => {
    let woken = 0;
    for await (const things of late(before(now(), LATE_SECONDS))) {
      await wake(things);
      await postpone(things, nextLook(now()));
      woken += things.length;
      if (isTimeUp()) break;
    }
    return woken;
  };
  return {
    events: await resend(rows, events.wake),
    deliveries: await resend(deliveries, (late) => wakeUps.send(late.flatMap((one) => booked(one, now())))),
  };
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
