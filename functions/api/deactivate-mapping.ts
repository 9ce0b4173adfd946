import { switchMapping } from "../../lib/config/switch-mapping.ts";
import { versionOf } from "../../lib/config/version.ts";
import { Tagged } from "../../lib/http/answer.ts";
import { endpoint } from "../../lib/http/endpoint.ts";
import { mappingView, viewMapping } from "../../lib/settings/mapping-view.ts";
import { mappingServices } from "../mapping-services.ts";
import { onLambda } from "../on-lambda.ts";

/** Pauses a mapping; capture stays on. */
export const deactivateMapping = endpoint({
  route: "deactivate-mapping",
  summary: "Pauses a mapping: its running cycle ends, changes of its rows are still captured.",
  output: mappingView,
  services: mappingServices,
  run: async ({ path, workspace, services, actor, at, ifMatch }) => {
    const asked = { workspaceId: workspace.id, mappingId: path.mapping_id, actor, at, ifMatch };
    const mapping = await switchMapping(services, asked, "deactivate");
    return new Tagged(viewMapping(mapping), versionOf(mapping));
  },
});

export const handler = onLambda(deactivateMapping);
