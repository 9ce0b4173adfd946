import * as z from "zod/mini";
import { findMapping } from "../../lib/config/find-mapping.ts";
import { reload } from "../../lib/settings/change-rows.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { auditLog, mappings, queue, rowQueriesOf } from "../services/composition.ts";

export const handler = onLambda({
  route: "reload-mapping",
  summary: "Reads every record of a mapping again, from the first on; changes of rows are still sent.",
  output: z.object({ reloading: z.boolean(), mapping_id: z.string() }),
  services: () => ({ mappings: mappings(), desks: rowQueriesOf(), audit: auditLog(), loads: queue("loads") }),
  find: ({ path, workspace, services }) => findMapping(services.mappings, workspace.id, path.mapping_id),
  run: async ({ resource: mapping, workspace, services, actor, at }) => {
    await reload(services, { workspace, mapping, actor, at });
    return { reloading: true, mapping_id: mapping.id };
  },
});
