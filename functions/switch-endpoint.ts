import { type Switch, switchMapping } from "../lib/config/switch-mapping.ts";
import { mappingView } from "../lib/settings/mapping-view.ts";
import { onLambda } from "./invocation/on-lambda.ts";
import { answeringServices, answerMapping } from "./services/mapping-services.ts";

/** The endpoint `<switch>-mapping`, which does this to a mapping as a whole and gives the mapping as it is then. */
export const switchEndpoint = (to: Switch, summary: string) =>
  onLambda({
    route: `${to}-mapping`,
    summary,
    output: mappingView,
    run: async ({ path, workspace, actor, at, ifMatch }) => {
      const services = answeringServices();
      const asked = { workspaceId: workspace.id, mappingId: path.mapping_id, actor, at, ifMatch };
      const mapping = await switchMapping(services, asked, to);
      return answerMapping(services, mapping);
    },
  });
