import * as z from "zod/mini";
import { endpoint } from "../../lib/http/endpoint.ts";
import { flag } from "../../lib/http/input.ts";
import { mappingWithState, readStates } from "../../lib/settings/mapping-states.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { engineReports, mappings, now, rowQueriesOf } from "../services/composition.ts";

/** All mappings with what the engine does with them; `?deleted=true` lists those that can be restored. */
export const listMappingStates = endpoint({
  route: "list-mapping-states",
  summary: "All mappings with what the engine does with them, by object; ?deleted=true lists what can be restored.",
  input: z.object({ deleted: flag() }),
  output: z.array(mappingWithState),
  services: () => ({ mappings: mappings(), engine: engineReports(), desks: rowQueriesOf() }),
  run: ({ input, workspace, services }) => readStates(services, workspace, input.deleted, now()),
});

export const handler = onLambda(listMappingStates);
