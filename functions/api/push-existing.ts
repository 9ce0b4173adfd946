import * as z from "zod/mini";
import { pushExisting as push, ROWS_AT_ONCE } from "../../lib/settings/change-rows.ts";
import { onMapping } from "../on-mapping.ts";
import { byHand } from "../services/composition.ts";

export const handler = onMapping({
  route: "push-existing",
  summary:
    "Pushes rows of an adopted table that have no Salesforce record, 10,000 a call; call again while more is true.",
  output: z.object({ queued: z.int(), more: z.boolean(), mapping_id: z.string() }),
  run: async ({ resource: mapping, who }) => {
    const queued = await push(byHand(), who);
    return { queued, more: queued === ROWS_AT_ONCE, mapping_id: mapping.id };
  },
});
