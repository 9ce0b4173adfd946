import * as z from "zod/mini";
import type { Mapping } from "../model/mapping.ts";
import type { Span } from "../model/span.ts";
import type { Throughput } from "./row-ports.ts";
import { timestamp } from "./shapes.ts";

/** Changes of rows that Salesforce answered over some time, by mapping and step; steps without any are left out. */
export const throughputView = z.object({
  from: timestamp(),
  to: timestamp(),
  step_seconds: z.int(),
  /** Only the latest 100,000 changes were looked at, and they do not reach back to `from`. */
  cut: z.boolean(),
  mappings: z.array(
    z.object({
      mapping_id: z.string(),
      sf_object: z.string(),
      accepted: z.int(),
      refused: z.int(),
      /** From a change of a row to Salesforce's word, over this time; null: none was accepted. */
      lag_seconds: z.nullable(z.object({ p50: z.number(), p95: z.number() })),
      steps: z.array(z.object({ at: timestamp(), accepted: z.int(), refused: z.int() })),
    }),
  ),
});

/** The same, from what was read; every mapping is there, by object. */
export function viewThroughput(
  { steps, lags, isCut }: Throughput,
  mappings: readonly Mapping[],
  { from, to, stepSeconds }: Span,
): z.infer<typeof throughputView> {
  const byMapping = Map.groupBy(steps, ({ mappingId }) => mappingId);
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    step_seconds: stepSeconds,
    cut: isCut,
    mappings: mappings.map(({ id, sfObject }) => {
      const own = byMapping.get(id) ?? [];
      return {
        mapping_id: id,
        sf_object: sfObject,
        accepted: own.reduce((sum, { accepted }) => sum + accepted, 0),
        refused: own.reduce((sum, { refused }) => sum + refused, 0),
        lag_seconds: lags.get(id) ?? null,
        steps: own.map(({ at, accepted, refused }) => ({ at: at.toISOString(), accepted, refused })),
      };
    }),
  };
}
