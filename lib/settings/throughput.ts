import * as z from "zod/mini";
import type { Mapping } from "../model/mapping/mapping.ts";
import { toSnakeCase } from "../model/snake-case.ts";
import type { Span } from "../model/span.ts";
import type { Throughput } from "./row-ports.ts";
import { timestamp } from "./shapes.ts";

/** Changes of rows that Salesforce answered over some time, and cycles, by mapping and step; steps without a cycle are left out. */
export const throughputView = z.object({
  from: timestamp(),
  to: timestamp(),
  step_seconds: z.int(),
  mappings: z.array(
    z.object({
      mapping_id: z.string(),
      sf_object: z.string(),
      accepted: z.int(),
      refused: z.int(),
      pulled: z.int(),
      lag_seconds: z.nullable(z.object({ p50: z.number(), p95: z.number() })),
      steps: z.array(
        z.object({
          at: timestamp(),
          accepted: z.int(),
          refused: z.int(),
          pulled: z.int(),
          cycles: z.object({
            well: z.int(),
            failed: z.int(),
            stopped: z.int(),
          }),
        }),
      ),
    }),
  ),
});

/** The same, from what was read; every mapping is there, by object. */
export function viewThroughput(
  found: Throughput,
  mappings: readonly Mapping[],
  span: Span,
): z.infer<typeof throughputView> {
  const steps = Map.groupBy(found.steps, ({ mappingId }) => mappingId);
  return toSnakeCase(throughputView, {
    ...span,
    mappings: mappings.map(({ id, sfObject }) => {
      const own = (steps.get(id) ?? []).toSorted(({ at: one }, { at: other }) => one.getTime() - other.getTime());
      const total = (name: "accepted" | "refused" | "pulled") => own.reduce((sum, step) => sum + step[name], 0);
      return {
        mappingId: id,
        sfObject,
        accepted: total("accepted"),
        refused: total("refused"),
        pulled: total("pulled"),
        lagSeconds: found.lags.get(id) ?? null,
        steps: own.map((step) => ({ ...step, cycles: step })),
      };
    }),
  });
}
