import * as z from "zod/mini";
import { findMapping } from "../../lib/config/find-mapping.ts";
import { confirmDeletes as confirm, DELETES_AT_ONCE } from "../../lib/settings/change-rows.ts";
import { chosenDeletes } from "../../lib/settings/held-deletes/reject-ports.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { auditLog, mappings, rowQueriesOf } from "../services/composition.ts";

export const handler = onLambda({
  route: "confirm-deletes",
  summary:
    "Lets deletes of a mapping go that the breaker holds back, on either side, 200,000 a call; call again while more is true. ?only= chooses some by their keys.",
  input: z.object({ only: chosenDeletes() }),
  output: z.object({ confirmed: z.int(), more: z.boolean(), mapping_id: z.string() }),
  services: () => ({ mappings: mappings(), desks: rowQueriesOf(), audit: auditLog() }),
  find: ({ path, workspace, services }) => findMapping(services.mappings, workspace.id, path.mapping_id),
  run: async ({ input: { only = null }, resource: mapping, workspace, services, actor, at }) => {
    const confirmed = await confirm(services, { workspace, mapping, actor, at }, only);
    return { confirmed, more: confirmed >= DELETES_AT_ONCE, mapping_id: mapping.id };
  },
});
