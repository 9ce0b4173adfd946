import * as z from "zod/mini";
import { findMapping } from "../../lib/config/find-mapping.ts";
import { settingsOf } from "../../lib/config/mapping-rules.ts";
import { updateMapping as update } from "../../lib/config/save-mapping.ts";
import { mappingChangesBody } from "../../lib/settings/mapping-input.ts";
import { mappingView } from "../../lib/settings/mapping-view.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { answeringServices, answerMapping } from "../services/mapping-services.ts";

export const handler = onLambda({
  route: "update-mapping",
  summary:
    "Changes the given settings of a mapping and nothing else. With If-Match only if it is still the version that was read.",
  input: z.object({ body: mappingChangesBody }),
  output: mappingView,
  services: answeringServices,
  find: ({ path, workspace, services }) => findMapping(services.mappings, workspace.id, path.mapping_id),
  run: async ({ input, path, workspace, services, actor, at, ifMatch }) => {
    const asked = { workspace, mappingId: path.mapping_id, actor, at, ifMatch };
    const mapping = await update(services, asked, { ...settingsOf(input.body), fields: input.body.fields });
    return answerMapping(services, mapping);
  },
});
