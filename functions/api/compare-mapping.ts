import * as z from "zod/mini";
import { findMapping } from "../../lib/config/find-mapping.ts";
import { compare } from "../../lib/settings/change-rows.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { auditLog, mappings, queue, rowQueriesOf } from "../services/composition.ts";

export const handler = onLambda({
  route: "compare-mapping",
  summary:
    "Compares all rows and records of a mapping now, as the daily sweep does, and corrects what differs; `compared` of the mapping says what it found.",
  output: z.object({ comparing: z.boolean(), mapping_id: z.string() }),
  services: () => ({ mappings: mappings(), desks: rowQueriesOf(), audit: auditLog(), loads: queue("loads") }),
  find: ({ path, workspace, services }) => findMapping(services.mappings, workspace.id, path.mapping_id),
  run: async ({ resource: mapping, workspace, services, actor, at }) => {
    await compare(services, { workspace, mapping, actor, at });
    return { comparing: true, mapping_id: mapping.id };
  },
});
