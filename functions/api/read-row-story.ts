import { mappingsNamed } from "../../lib/settings/rows/find-row.ts";
import { readRowStory as read, rowStoryView } from "../../lib/settings/rows/row-story.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { engineReports, mappings, now, pauses, recordOf, rowQueriesOf } from "../services/composition.ts";

export const handler = onLambda({
  route: "read-row-story",
  summary:
    "What happened to one row on both sides, newest first: every attempt, who wrote, conflicts, and what each side holds now. " +
    "`table` is a mapped table, its object, or `-` for any, `key` the record's id, the row's own key or the value of the upsert field. Costs one API call of the org.",
  output: rowStoryView,
  find: ({ path, workspace }) => mappingsNamed(mappings(), workspace.id, path.table),
  run: ({ resource: candidates, path, workspace }) =>
    read(
      { rowQueries: rowQueriesOf(), engine: engineReports(), pauses: pauses(), now, recordOf: recordOf() },
      { workspace, mappings: candidates, key: path.key },
    ),
});
