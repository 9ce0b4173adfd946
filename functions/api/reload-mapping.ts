import * as z from "zod/mini";
import { reload } from "../../lib/settings/change-rows.ts";
import { onMapping } from "../on-mapping.ts";
import { auditLog, queue, rowQueriesOf } from "../services/composition.ts";

export const handler = onMapping({
  route: "reload-mapping",
  summary: "Reads every record of a mapping again, from the first on; changes of rows are still sent.",
  output: z.object({ reloading: z.boolean(), mapping_id: z.string() }),
  run: async ({ resource: mapping, who }) => {
    await reload({ rowQueries: rowQueriesOf(), audit: auditLog(), loads: queue("loads") }, who);
    return { reloading: true, mapping_id: mapping.id };
  },
});
