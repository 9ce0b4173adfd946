import * as z from "zod/mini";
import { compare } from "../../lib/settings/change-rows.ts";
import { onMapping } from "../on-mapping.ts";
import { auditLog, queue, rowQueriesOf } from "../services/composition.ts";

export const handler = onMapping({
  route: "compare-mapping",
  summary:
    "Compares all rows and records of a mapping now, as the daily sweep does, and corrects what differs; `compared` of the mapping says what it found.",
  output: z.object({ comparing: z.boolean(), mapping_id: z.string() }),
  run: async ({ resource: mapping, who }) => {
    await compare({ rowQueries: rowQueriesOf(), audit: auditLog(), loads: queue("loads") }, who);
    return { comparing: true, mapping_id: mapping.id };
  },
});
