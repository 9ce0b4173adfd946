import * as z from "zod/mini";
import { BELL_STATES, bellOf } from "../../lib/model/doorbell.ts";
import { pulls } from "../../lib/model/mapping/mapping.ts";
import { nullableTimestamp } from "../../lib/settings/shapes.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { engineReports, mappings, pepper } from "../services/composition.ts";

export const handler = onLambda({
  route: "read-doorbell",
  summary:
    "The workspace's doorbell, by which Salesforce announces changes: whether it works, and for which mappings. `url_outdated`: an operator has changed the secret of its URL, so the org needs another one. Never its URL, which administrators get when they make it.",
  output: z.object({
    created_at: nullableTimestamp(),
    url_outdated: z.boolean(),
    mappings: z.array(
      z.object({
        mapping_id: z.string(),
        sf_object: z.string(),
        state: z.enum(BELL_STATES),
        since: nullableTimestamp(),
        rung_at: nullableTimestamp(),
      }),
    ),
  }),
  run: async ({ workspace, at }) => {
    const [{ budget }, all, peppers] = await Promise.all([
      engineReports().read(workspace.id),
      mappings().list(workspace.id),
      pepper().read(),
    ]);
    const { doorbell } = budget;
    const text = (time: Date | null | undefined) => time?.toISOString() ?? null;
    return {
      created_at: text(doorbell?.madeAt),
      url_outdated: doorbell?.madeAt != null && doorbell.pepper !== peppers?.current.number,
      mappings: all.mappings
        .filter(({ active, syncDirection }) => active && pulls(syncDirection))
        .map((mapping) => {
          const { state, since } = bellOf(doorbell, mapping, at);
          const rungAt = text(doorbell?.heard.get(mapping.id)?.rungAt);
          return { mapping_id: mapping.id, sf_object: mapping.sfObject, state, since: text(since), rung_at: rungAt };
        }),
    };
  },
});
