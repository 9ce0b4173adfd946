import * as z from "zod/mini";
import { findMapping } from "../../lib/config/find-mapping.ts";
import { flag, oneOf } from "../../lib/http/input.ts";
import { captureAgain, captureView, UNCAPTURED } from "../../lib/settings/change-rows.ts";
import { body } from "../../lib/settings/shapes.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { auditLog, mappings, queue, rowQueriesOf } from "../services/composition.ts";

export const handler = onLambda({
  route: "capture-mapping",
  summary:
    "Puts the triggers on the table that bears the mapped name now, after capture was off. `uncaptured` says which side wins for the writes that were not captured: `salesforce` reads every record again, so Salesforce's values win; `mine` captures every row as changed, and no cycle runs until that is done. ?dry_run=true gives the number of rows and about how many API calls it needs, and changes nothing.",
  input: z.object({ dry_run: flag(), body: body({ uncaptured: oneOf(UNCAPTURED) }) }),
  output: captureView,
  services: () => ({
    mappings: mappings(),
    desks: rowQueriesOf(),
    audit: auditLog(),
    provisioning: queue("provisioning"),
  }),
  find: ({ path, workspace, services }) => findMapping(services.mappings, workspace.id, path.mapping_id),
  run: ({ input, resource: mapping, workspace, services, actor, at }) =>
    captureAgain(
      services,
      { workspace, mapping, actor, at },
      { uncaptured: input.body.uncaptured, dryRun: input.dry_run },
    ),
});
