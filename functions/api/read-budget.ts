import * as z from "zod/mini";
import { filterText, flag, oneOf, optionalFlag, seconds } from "../../lib/http/input.ts";
import { SYNC_DIRECTIONS } from "../../lib/model/mapping/mapping.ts";
import { budgetView, readBudget as read } from "../../lib/settings/budget.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { counters, engineReports, mappings } from "../services/composition.ts";

export const handler = onLambda({
  route: "read-budget",
  summary:
    "The org's API calls: used, left, what a day of these mappings costs, and the engine's pace; with sf_polling_seconds also what it would be with another mapping, or with mapping_id as it would be then.",
  input: z.object({
    sf_polling_seconds: z.optional(seconds(10, 86_400)),
    when_quiet_seconds: z.optional(seconds(10, 86_400)),
    mapping_id: z.optional(filterText()),
    sync_direction: z._default(oneOf(SYNC_DIRECTIONS), "bidirectional"),
    filtered: flag(),
    sf_notify_enabled: optionalFlag(),
  }),
  output: budgetView,
  run: ({ input, workspace, at }) => {
    const {
      sf_polling_seconds: pollingSeconds,
      when_quiet_seconds: whenQuietSeconds = null,
      mapping_id,
      sync_direction: syncDirection,
      filtered: isFiltered,
      sf_notify_enabled: notifyEnabled,
    } = input;
    const mappingId = mapping_id ?? null;
    const wanted =
      pollingSeconds === undefined
        ? null
        : { pollingSeconds, whenQuietSeconds, mappingId, syncDirection, isFiltered, notifyEnabled };
    return read({ mappings: mappings(), engine: engineReports(), counters: counters() }, workspace.id, at, wanted);
  },
});
