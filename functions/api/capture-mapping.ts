import * as z from "zod/mini";
import { findMapping } from "../../lib/config/find-mapping.ts";
import { endpoint } from "../../lib/http/endpoint.ts";
import { flag, oneOf } from "../../lib/http/input.ts";
import { captureAgain, captureView, UNCAPTURED } from "../../lib/settings/change-rows.ts";
import { body } from "../../lib/settings/shapes.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { auditLog, mappings, queue, rowQueriesOf } from "../services/composition.ts";

/** Puts the triggers back on a mapped table; `?dry_run=true` only tells rows and calls. */
export const captureMapping = endpoint({
  route: "capture-mapping",
  summary:
    "Puts the triggers on the table that bears the mapped name now, after capture was off. `uncaptured` says what the writes are worth that nobody captured: `salesforce` reads every record again, so Salesforce's values win; `mine` captures every row as changed, and no cycle runs until that is done. ?dry_run=true only tells the rows and about how many API calls it takes.",
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

export const handler = onLambda(captureMapping);
