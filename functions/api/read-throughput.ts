import * as z from "zod/mini";
import { minutesBack } from "../../lib/http/input.ts";
import { lastMinutes, MAX_MINUTES } from "../../lib/model/span.ts";
import { withDatabase } from "../../lib/monitoring/with-database.ts";
import { throughputView, viewThroughput } from "../../lib/settings/throughput.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { mappings, rowQueriesOf } from "../services/composition.ts";

export const handler = onLambda({
  route: "read-throughput",
  summary:
    "Changes of rows that Salesforce accepted and refused over the last minutes (60, at most a day), and their lag; how cycles ended and what they moved.",
  input: z.object({ minutes: minutesBack(MAX_MINUTES) }),
  output: throughputView,
  run: async ({ input, workspace, at }) => {
    const span = lastMinutes(input.minutes, at);
    const [known, found] = await Promise.all([
      mappings().list(workspace.id),
      withDatabase(rowQueriesOf(), workspace, (queries) => queries.throughput(span)),
    ]);
    return viewThroughput(found, known.mappings, span);
  },
});
