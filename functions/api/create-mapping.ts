import * as z from "zod/mini";
import { createMapping as create } from "../../lib/config/save-mapping.ts";
import { versionOf } from "../../lib/config/version.ts";
import { Tagged } from "../../lib/http/answer.ts";
import { endpoint } from "../../lib/http/endpoint.ts";
import { newMappingBody, settingsOf } from "../../lib/settings/mapping-input.ts";
import { mappingView, viewMapping } from "../../lib/settings/mapping-view.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { mappingServices } from "../services/mapping-services.ts";

/** Ties an object to a table; its table, triggers and first load are made by workers. */
export const createMapping = endpoint({
  route: "create-mapping",
  summary: "Ties a Salesforce object to a table. Its table, triggers and first load follow within seconds.",
  input: z.object({ body: newMappingBody }),
  output: mappingView,
  services: mappingServices,
  run: async ({ input, workspace, services, actor, at }) => {
    const { sf_object: sfObject, pg_table: pgTable, active } = input.body;
    const wanted = { ...settingsOf(input.body), sfObject, pgTable, active };
    const mapping = await create(services, { workspace, actor, at }, wanted);
    const { mappings: all } = await services.mappings.list(workspace.id);
    return new Tagged(viewMapping(mapping, all), versionOf(mapping));
  },
});

export const handler = onLambda(createMapping);
