import * as z from "zod/mini";
import { findMapping } from "../../lib/config/find-mapping.ts";
import { filterText } from "../../lib/http/input.ts";
import { retryInbound as retry } from "../../lib/settings/change-rows.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { auditLog, mappings, rowQueriesOf } from "../services/composition.ts";

export const handler = onLambda({
  route: "retry-inbound",
  summary:
    "Has the next cycle read records of a mapping again that could not become rows: all of them, or one by its sfid.",
  input: z.object({ sfid: z.optional(filterText()) }),
  output: z.object({ retried: z.int(), mapping_id: z.string() }),
  services: () => ({ mappings: mappings(), desks: rowQueriesOf(), audit: auditLog() }),
  find: ({ path, workspace, services }) => findMapping(services.mappings, workspace.id, path.mapping_id),
  run: async ({ input, resource: mapping, workspace, services, actor, at }) => ({
    retried: await retry(services, { workspace, mapping, actor, at }, input.sfid ?? null),
    mapping_id: mapping.id,
  }),
});
