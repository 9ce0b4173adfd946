import { type Switch, switchMapping } from "../lib/config/switch-mapping.ts";
import { versionOf } from "../lib/config/version.ts";
import { Tagged } from "../lib/http/answer.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { mappingView, viewMapping } from "../lib/settings/mapping-view.ts";
import { mappingServices } from "./services/mapping-services.ts";

/** The endpoint `<switch>-mapping`, which does this to a mapping as a whole and gives the mapping as it is then. */
export const switchEndpoint = (to: Switch, summary: string) =>
  endpoint({
    route: `${to}-mapping`,
    summary,
    output: mappingView,
    services: mappingServices,
    run: async ({ path, workspace, services, actor, at, ifMatch }) => {
      const asked = { workspaceId: workspace.id, mappingId: path.mapping_id, actor, at, ifMatch };
      const mapping = await switchMapping(services, asked, to);
      const { mappings: all } = await services.mappings.list(workspace.id);
      return new Tagged(viewMapping(mapping, all), versionOf(mapping));
    },
  });
