import * as z from "zod/mini";
import { flag } from "../../lib/http/input.ts";
import { mappingWithState, readStates } from "../../lib/settings/mapping-states.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { engineReports, mappings, now, pauses, rowQueriesOf } from "../services/composition.ts";

export const handler = onLambda({
  route: "list-mapping-states",
  summary: "All mappings with what the engine does with them, by object; ?deleted=true lists what can be restored.",
  input: z.object({ deleted: flag() }),
  output: z.array(mappingWithState),
  run: ({ input, workspace }) =>
    readStates(
      { mappings: mappings(), engine: engineReports(), rowQueries: rowQueriesOf(), pauses: pauses() },
      workspace,
      input.deleted,
      now(),
    ),
});
