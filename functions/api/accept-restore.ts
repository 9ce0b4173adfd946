import * as z from "zod/mini";
import { acceptRestore, restoreDecisions } from "../../lib/settings/restore/restore.ts";
import { onMapping } from "../on-mapping.ts";
import { auditLog, engineReports, restores, rowQueriesOf } from "../services/composition.ts";
import { mappingServices } from "../services/mapping-services.ts";

export const handler = onMapping({
  route: "accept-restore",
  summary:
    "Decides what waits of a mapping after a restore, by group or row: Salesforce's values, ours, or leave it waiting. Then the mapping sends again, from where its database is now. Where DynamoDB is the older one, its configuration becomes the later one.",
  input: z.object({ body: restoreDecisions }),
  output: z.object({ mapping_id: z.string(), decided: z.int() }),
  run: async ({ input, resource: mapping, who }) => {
    const own = { engine: engineReports(), restores: restores(), rowQueries: rowQueriesOf(), audit: auditLog() };
    const { decided } = await acceptRestore({ ...own, change: mappingServices() }, who, input.body);
    return { mapping_id: mapping.id, decided };
  },
});
