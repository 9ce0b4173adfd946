import * as z from "zod/mini";
import type { Mapping } from "../model/mapping/mapping.ts";
import { type CamelCased, toSnakeCase } from "../model/snake-case.ts";
import type { Span } from "../model/span.ts";
import type { Throughput } from "./row-ports.ts";
import { timestamp } from "./shapes.ts";

/** Changes of rows that Salesforce answered over some time, and cycles, by mapping and step; steps without any are left out. */
export const throughputView = z.object({
  from: timestamp(),
  to: timestamp(),
  step_seconds: z.int(),
  cut: z.boolean(),
  cycles_from: z.nullable(timestamp()),
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
            accepted: z.int(),
            refused: z.int(),
          }),
        }),
      ),
    }),
  ),
});

type Step = CamelCased<typeof throughputView>["mappings"][number]["steps"][number];

/** The same, from what was read; every mapping is there, by object. */
export function viewThroughput(
  found: Throughput,
  mappings: readonly Mapping[],
  span: Span,
): z.infer<typeof throughputView> {
  const answered = Map.groupBy(found.steps, ({ mappingId }) => mappingId);
  const counted = Map.groupBy(found.cycles, ({ mappingId }) => mappingId);
  return toSnakeCase(throughputView, {
    ...span,
    cut: found.isCut,
    cyclesFrom: found.cyclesFrom,
    mappings: mappings.map(({ id, sfObject }) => {
      const steps = merged(answered.get(id) ?? [], counted.get(id) ?? []);
      const total = (name: "accepted" | "refused" | "pulled") => steps.reduce((sum, step) => sum + step[name], 0);
      const totals = { accepted: total("accepted"), refused: total("refused"), pulled: total("pulled") };
      return { mappingId: id, sfObject, ...totals, lagSeconds: found.lags.get(id) ?? null, steps };
    }),
  });
}

/** A mapping's steps by the log, and what its cycles counted in them, as one, oldest first. */
function merged(answered: Throughput["steps"], counted: Throughput["cycles"]): Step[] {
  const steps = new Map<number, Step>();
  for (const { at, accepted, refused } of answered) steps.set(at.getTime(), { ...emptyStep(at), accepted, refused });
  for (const { at, pulled, mappingId: _, ...cycles } of counted) {
    steps.set(at.getTime(), { ...(steps.get(at.getTime()) ?? emptyStep(at)), pulled, cycles });
  }
  return [...steps].toSorted(([one], [other]) => one - other).map(([, step]) => step);
}

const emptyStep = (at: Date): Step => ({
  at,
  accepted: 0,
  refused: 0,
  pulled: 0,
  cycles: { well: 0, failed: 0, stopped: 0, accepted: 0, refused: 0 },
});
