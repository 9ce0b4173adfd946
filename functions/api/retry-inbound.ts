import * as z from "zod/mini";
import { filterText } from "../../lib/http/input.ts";
import { retryInbound as retry } from "../../lib/settings/change-rows.ts";
import { onMapping } from "../on-mapping.ts";
import { byHand } from "../services/composition.ts";

export const handler = onMapping({
  route: "retry-inbound",
  summary:
    "Has the next cycle read records of a mapping again that could not become rows: all of them, or one by its sfid.",
  input: z.object({ sfid: z.optional(filterText()) }),
  output: z.object({ retried: z.int(), mapping_id: z.string() }),
  run: async ({ input, resource: mapping, who }) => ({
    retried: await retry(byHand(), who, input.sfid ?? null),
    mapping_id: mapping.id,
  }),
});
