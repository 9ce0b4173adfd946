import { switchMapping } from "../../lib/config/switch-mapping.ts";
import { versionOf } from "../../lib/config/version.ts";
import { Tagged } from "../../lib/http/answer.ts";
import { endpoint } from "../../lib/http/endpoint.ts";
import { mappingView, viewMapping } from "../../lib/settings/mapping-view.ts";
import { mappingServices } from "../mapping-services.ts";
import { onLambda } from "../on-lambda.ts";

/** Begins a mapping, or goes on with it. */
export const activateMapping = endpoint({
  route: "activate-mapping",
  summary: "Begins a mapping, or goes on with it; what changed meanwhile is pulled first.",
  output: mappingView,
  services: mappingServices,
  run: async ({ path, workspace, services, actor, at, ifMatch }) => {
    const asked = { workspaceId: workspace.id, mappingId: path.mapping_id, actor, at, ifMatch };
    const mapping = await switchMapping(services, asked, "activate");
    return new Tagged(viewMapping(mapping), versionOf(mapping));
  },
});

export const handler = onLambda(activateMapping);
