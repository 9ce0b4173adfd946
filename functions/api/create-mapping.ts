import * as z from "zod/mini";
import { settingsOf } from "../../lib/config/mapping-rules.ts";
import { createMapping as create } from "../../lib/config/save-mapping.ts";
import { Headed } from "../../lib/http/answer.ts";
import { newMappingBody } from "../../lib/settings/mapping-input.ts";
import { mappingView } from "../../lib/settings/mapping-view.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { answeringServices, answerMapping } from "../services/mapping-services.ts";

export const handler = onLambda({
  route: "create-mapping",
  summary: "Ties a Salesforce object to a table. Its table, triggers and first load follow within seconds.",
  input: z.object({ body: newMappingBody }),
  output: z.extend(mappingView, { warnings: z.array(z.object({ path: z.string(), message: z.string() })) }),
  run: async ({ input, workspace, actor, at }) => {
    const services = answeringServices();
    const { sf_object: sfObject, fields } = input.body;
    const wanted = { ...settingsOf(input.body), sfObject, fields };
    const { mapping, warnings } = await create(services, { workspace, actor, at }, wanted);
    const { content, headers } = await answerMapping(services, mapping);
    return new Headed({ ...(content as object), warnings }, headers);
  },
});
