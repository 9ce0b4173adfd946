import * as z from "zod/mini";
import { findMapping } from "../../lib/config/find-mapping.ts";
import { pushExisting as push, ROWS_AT_ONCE } from "../../lib/settings/change-rows.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { auditLog, mappings, rowQueriesOf } from "../services/composition.ts";

export const handler = onLambda({
  route: "push-existing",
  summary:
    "Pushes rows of an adopted table that have no Salesforce record, 10,000 a call; call again while more is true.",
  output: z.object({ queued: z.int(), more: z.boolean(), mapping_id: z.string() }),
  services: () => ({ mappings: mappings(), desks: rowQueriesOf(), audit: auditLog() }),
  find: ({ path, workspace, services }) => findMapping(services.mappings, workspace.id, path.mapping_id),
  run: async ({ resource: mapping, workspace, services, actor, at }) => {
    const queued = await push(services, { workspace, mapping, actor, at });
    return { queued, more: queued === ROWS_AT_ONCE, mapping_id: mapping.id };
  },
});
