import * as z from "zod/mini";
import { findMapping } from "../../lib/config/find-mapping.ts";
import { updateMapping as update } from "../../lib/config/save-mapping.ts";
import { versionOf } from "../../lib/config/version.ts";
import { Tagged } from "../../lib/http/answer.ts";
import { endpoint } from "../../lib/http/endpoint.ts";
import { mappingChangesBody, settingsOf } from "../../lib/settings/mapping-input.ts";
import { mappingView, viewMapping } from "../../lib/settings/mapping-view.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { mappingServices } from "../services/mapping-services.ts";

/** Changes what is said of a mapping and nothing else. */
export const updateMapping = endpoint({
  route: "update-mapping",
  summary: "Changes what is said of a mapping and nothing else. With If-Match only if nobody changed it meanwhile.",
  input: z.object({ body: mappingChangesBody }),
  output: mappingView,
  services: mappingServices,
  find: ({ path, workspace, services }) => findMapping(services.mappings, workspace.id, path.mapping_id),
  run: async ({ input, path, workspace, services, actor, at, ifMatch }) => {
    const asked = { workspace, mappingId: path.mapping_id, actor, at, ifMatch };
    const mapping = await update(services, asked, settingsOf(input.body));
    const { mappings: all } = await services.mappings.list(workspace.id);
    return new Tagged(viewMapping(mapping, all), versionOf(mapping));
  },
});

export const handler = onLambda(updateMapping);
