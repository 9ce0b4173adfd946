import * as z from "zod/mini";
import { mappingItem } from "../../lib/http/contract.ts";
import { endpoint } from "../../lib/http/endpoint.ts";
import { oneOf } from "../../lib/http/input.ts";
import { toSnakeCase } from "../../lib/model/snake-case.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { mappings } from "../services/composition.ts";

/** The active mappings of the workspace; `?include=inactive` lists all (spec 4, endpoint 1). */
export const listMappings = endpoint({
  route: "list-mappings",
  onlyReads: true,
  summary: "The active mappings of the workspace; ?include=inactive lists all.",
  input: z.object({ include: z.optional(oneOf(["inactive"])) }),
  output: z.array(mappingItem),
  services: () => ({ mappings: mappings() }),
  run: async ({ input, workspace, services }) => {
    const { mappings } = await services.mappings.list(workspace.id);
    return mappings
      .filter(({ active }) => active || input.include === "inactive")
      .map((mapping) => toSnakeCase(mappingItem, { ...mapping, fieldCount: mapping.fields.length }));
  },
});

export const handler = onLambda(listMappings);
