import * as z from "zod/mini";
import { flag, oneOf } from "../../lib/http/input.ts";
import { captureAgain, captureView, UNCAPTURED } from "../../lib/settings/change-rows.ts";
import { body } from "../../lib/settings/shapes.ts";
import { onMapping } from "../on-mapping.ts";
import { auditLog, queue, rowQueriesOf } from "../services/composition.ts";

export const handler = onMapping({
  route: "capture-mapping",
  summary:
    "Restores the triggers on the table with the mapped name, after capture was off. `uncaptured` says which side wins for the writes that were not captured: `salesforce` reads every record again, so Salesforce's values win; `mine` captures every row as changed, and no cycle runs until that is done. ?dry_run=true gives the number of rows and about how many API calls it needs, and changes nothing.",
  input: z.object({ dry_run: flag(), body: body({ uncaptured: oneOf(UNCAPTURED) }) }),
  output: captureView,
  run: ({ input, who }) =>
    captureAgain({ rowQueries: rowQueriesOf(), audit: auditLog(), provisioning: queue("provisioning") }, who, {
      uncaptured: input.body.uncaptured,
      dryRun: input.dry_run,
    }),
});
