import * as z from "zod/mini";
import { findMapping } from "../../lib/config/find-mapping.ts";
import { switchMapping } from "../../lib/config/switch-mapping.ts";
import { requireVersion, versionOf } from "../../lib/config/version.ts";
import { Tagged } from "../../lib/http/answer.ts";
import { endpoint } from "../../lib/http/endpoint.ts";
import { filterText } from "../../lib/http/input.ts";
import { confirmDryRun } from "../../lib/settings/dry-run/dry-run.ts";
import { mappingView, viewMapping } from "../../lib/settings/mapping-view.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { auditLog, queue, rowQueriesOf } from "../services/composition.ts";
import { mappingServices } from "../services/mapping-services.ts";

/** Begins a mapping, or goes on with it; with `?digest=` also a first load that waits for it. */
export const activateMapping = endpoint({
  route: "activate-mapping",
  summary:
    "Begins a mapping, or goes on with it; what changed meanwhile is pulled first. ?digest= agrees to what the mapping's dry run has found: where PostgreSQL wins and the first load would change more than 100 records, it waits for that, and nothing is sent.",
  input: z.object({ digest: z.optional(filterText()) }),
  output: mappingView,
  services: () => ({ ...mappingServices(), desks: rowQueriesOf(), audit: auditLog(), loads: queue("loads") }),
  run: async ({ input: { digest }, path, workspace, services, actor, at, ifMatch }) => {
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
    const { mappings: all } = await services.mappings.list(workspace.id);
    return new Tagged(viewMapping(mapping, all), versionOf(mapping));
  },
});

export const handler = onLambda(activateMapping);
