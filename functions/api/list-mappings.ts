import * as z from "zod/mini";
import { mappingItem } from "../../lib/http/contract.ts";
import { oneOf } from "../../lib/http/input.ts";
import { toSnakeCase } from "../../lib/model/snake-case.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { mappings } from "../services/composition.ts";

export const handler = onLambda({
  route: "list-mappings",
  onlyReads: true,
  summary: "The active mappings of the workspace; ?include=inactive lists all.",
  input: z.object({ include: z.optional(oneOf(["inactive"])) }),
  output: z.array(mappingItem),
  run: async ({ input, workspace }) => {
    const { mappings: all } = await mappings().list(workspace.id);
    return all
      .filter(({ active }) => active || input.include === "inactive")
      .map((mapping) => toSnakeCase(mappingItem, { ...mapping, fieldCount: mapping.fields.length }));
  },
});
