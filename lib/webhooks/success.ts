import * as z from "zod/mini";
import { LOOKED_AT_DELIVERIES, outcomesOf } from "../model/delivery/delivery.ts";
import { type Span, stepOf } from "../model/span.ts";
import type { Deliveries } from "./ports.ts";

const counts = { successful: z.int(), failed: z.int(), pending: z.int() };

/** The results of a webhook's deliveries over some time, by when they became due; steps without any are left out. */
export const successView = z.object({
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  step_seconds: z.int(),
  /** Only the latest 500 deliveries were looked at, and they do not reach back to `from`. */
  cut: z.boolean(),
  ...counts,
  steps: z.array(z.object({ at: z.iso.datetime(), ...counts })),
});

/** Counts the deliveries of a time by their results so far. */
export async function successOver(
  deliveries: Pick<Deliveries, "list">,
  webhookId: string,
  { from, to, stepSeconds }: Span,
): Promise<z.infer<typeof successView>> {
  const { rows: latest, total } = await deliveries.list(webhookId, { limit: LOOKED_AT_DELIVERIES, offset: 0 });
  const within = latest.filter(({ createdAt }) => createdAt >= from && createdAt <= to);
  const steps = Map.groupBy(within, ({ createdAt }) => stepOf(createdAt, stepSeconds).toISOString());
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    step_seconds: stepSeconds,
    cut: total > latest.length && within.length === latest.length,
    ...outcomesOf(within),
    steps: [...steps]
      .map(([at, some]) => ({ at, ...outcomesOf(some) }))
      .toSorted((one, other) => (one.at < other.at ? -1 : 1)),
  };
}
