import type { AuditTrail } from "../audit/ports.ts";
import { askForAttempt, type Delivery } from "../model/delivery/delivery.ts";
import type { Webhook } from "../model/delivery/webhook.ts";
import { Failure } from "../model/failure.ts";
import { manualWakeUp } from "./ask-for.ts";
import type { Deliveries, WakeUps } from "./ports.ts";
import { type Actor, entryOf } from "./settings.ts";

interface Needs {
  readonly deliveries: Pick<Deliveries, "since" | "read" | "replace">;
  readonly wakeUps: WakeUps;
  readonly audit: AuditTrail;
}

/** Deliveries that one call looks at. */
const LOOKED_AT = 500;

/**
 * Queues a manual attempt of each delivery from a time on that has failed and has no automatic retry left. Gives how
 * many, and the `beforeId` of the next call; null: all were looked at. A delivery whose attempt is queued already, by a
 * replay at the same time as well, gets no second one. Rejects with CONFLICT while the webhook is inactive.
 */
export async function replayMissed(
  { deliveries, wakeUps, audit }: Needs,
  webhook: Webhook,
  { since, beforeId }: { readonly since: Date; readonly beforeId: string | undefined },
  by: Actor,
): Promise<{ readonly queued: number; readonly next: string | null }> {
  if (!webhook.active) throw new Failure("CONFLICT", "the webhook is inactive: activate it, then replay");
  const { rows, next } = await deliveries.since(webhook.id, since, { limit: LOOKED_AT, beforeId });
  const failed = rows.filter(({ status, nextAttemptAt }) => status === "failed" && nextAttemptAt === null);
  const missed = (await deliveries.read(failed.map(({ id }) => id))).filter(isMissed);
  if (missed.length === 0) return { queued: 0, next };
  const detail = { since: since.toISOString(), deliveries: missed.length };
  await audit.append(entryOf(webhook, "webhook.replayed", by, detail));
  const asked = await Promise.all(
    missed.map(async (before) => {
      const after = askForAttempt(before, by.at);
      return (await deliveries.replace(before, after)) ? [manualWakeUp(webhook, after, by.at)] : [];
    }),
  );
  // The minute sweeper repeats a lost wake-up.
  await wakeUps.send(asked.flat());
  return { queued: asked.flat().length, next };
}

function isMissed({ status, nextAttemptAt, manualAttempts, manualRequested }: Delivery): boolean {
  return status === "failed" && nextAttemptAt === null && manualAttempts === manualRequested;
}
