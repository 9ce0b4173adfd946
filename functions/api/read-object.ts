import * as z from "zod/mini";
import { filterRule } from "../../lib/config/mapping-rules.ts";
import { flag } from "../../lib/http/input.ts";
import { Failure } from "../../lib/model/failure.ts";
import { objectWithFields, readCatalog } from "../../lib/settings/catalog.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { catalog, countRecords } from "../services/composition.ts";

export const handler = onLambda({
  route: "read-object",
  summary:
    "One object of the org with its fields: type, whether required, external id, formula. Costs one API call; " +
    "?parents=true adds the external ids that name parents, for one call more each, 25 at most; " +
    "?filter= counts the records that match a mapping's filter (`matching`), for one call more. " +
    "What other records change in a formula or roll-up reaches its row with the record's next own change or the daily sweep.",
  input: z.object({ parents: flag(), filter: z.optional(filterRule()) }),
  output: objectWithFields,
  run: async ({ input, path, workspace }) => {
    const needs = { org: catalog(), countRecords: countRecords() };
    const object = await readCatalog(needs, workspace, path.object_name, input);
    if (object === null) throw new Failure("NOT_FOUND", "the connected org's user sees no object of this name");
    return object;
  },
});
