import * as z from "zod/mini";
import { findMapping } from "../../lib/config/find-mapping.ts";
import { switchMapping } from "../../lib/config/switch-mapping.ts";
import { requireVersion, versionOf } from "../../lib/config/version.ts";
import { filterText } from "../../lib/http/input.ts";
import { confirmDryRun } from "../../lib/settings/dry-run/dry-run.ts";
import { mappingView } from "../../lib/settings/mapping-view.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { auditLog, queue, rowQueriesOf } from "../services/composition.ts";
import { answeringServices, answerMapping } from "../services/mapping-services.ts";

export const handler = onLambda({
  route: "activate-mapping",
  summary:
    "Begins a mapping, or continues it; what changed meanwhile is pulled first. ?digest= agrees to what the mapping's dry run has found: where PostgreSQL wins and the first load would change more than 100 records, it waits for that, and nothing is sent.",
  input: z.object({ digest: z.optional(filterText()) }),
  output: mappingView,
  run: async ({ input: { digest }, path, workspace, actor, at, ifMatch }) => {
    const services = { ...answeringServices(), rowQueries: rowQueriesOf(), audit: auditLog(), loads: queue("loads") };
    const asked = { workspaceId: workspace.id, mappingId: path.mapping_id, actor, at, ifMatch };
    if (digest !== undefined) {
      const mapping = await findMapping(services.mappings, workspace.id, path.mapping_id);
      requireVersion(ifMatch, versionOf(mapping));
      await confirmDryRun(services, { workspace, mapping, actor, at }, digest);
    }
    const mapping = await switchMapping(services, asked, "activate");
    // One that was active already asks for its load every five minutes only.
    if (digest !== undefined) {
      const message = { workspace_id: workspace.id, mapping_id: mapping.id, kind: "load" } as const;
      await services.loads.send([{ message }]);
    }
    return answerMapping(services, mapping);
  },
});
