import * as z from "zod/mini";
import { settingsOf } from "../../lib/config/mapping-rules.ts";
import { updateMapping as update } from "../../lib/config/save-mapping.ts";
import { mappingChangesBody } from "../../lib/settings/mapping-input.ts";
import { mappingView } from "../../lib/settings/mapping-view.ts";
import { onMapping } from "../on-mapping.ts";
import { answeringServices, answerMapping } from "../services/mapping-services.ts";

export const handler = onMapping({
  route: "update-mapping",
  summary:
    "Changes the given settings of a mapping and nothing else. With If-Match only if it is still the version that was read.",
  input: z.object({ body: mappingChangesBody }),
  output: mappingView,
  run: async ({ input, path, workspace, actor, at, ifMatch }) => {
    const services = answeringServices();
    const asked = { workspace, mappingId: path.mapping_id, actor, at, ifMatch };
    const mapping = await update(services, asked, { ...settingsOf(input.body), fields: input.body.fields });
    return answerMapping(services, mapping);
  },
});
