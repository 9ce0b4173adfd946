import * as z from "zod/mini";
import { listProposals as list, proposalView } from "../../lib/settings/proposals/list-proposals.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { mappings, rowQueriesOf } from "../services/composition.ts";

export const handler = onLambda({
  route: "list-proposals",
  summary:
    "What the application's own migration is to change of each mapped table, with its SQL. Empty where schema_changes is apply, and once the tables are as the mappings ask.",
  output: z.array(proposalView),
  run: ({ workspace }) => list({ mappings: mappings(), rowQueries: rowQueriesOf() }, workspace),
});
