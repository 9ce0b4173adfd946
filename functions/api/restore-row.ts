import { findStory, mappingsNamed } from "../../lib/settings/rows/find-row.ts";
import { restoreRow as restore, restoredView } from "../../lib/settings/rows/restore-row.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { auditLog, mappings, recordOf, rowQueriesOf } from "../services/composition.ts";

export const handler = onLambda({
  route: "restore-row",
  summary:
    "Brings back a row that was deleted on either side. A delete that was not sent yet is not sent, and the row is there at once. Otherwise the next cycle takes the record out of Salesforce's recycle bin, and its row comes back. The row's story says until when, and why one cannot come back. Costs one API call of the org.",
  output: restoredView,
  find: ({ path, workspace }) => mappingsNamed(mappings(), workspace.id, path.table),
  run: async ({ resource: candidates, path, workspace, actor, at }) => {
    const needs = { rowQueries: rowQueriesOf(), audit: auditLog(), recordOf: recordOf() };
    const { mapping, story } = await findStory(needs, { workspace, mappings: candidates, key: path.key });
    return restore(needs, { workspace, actor, at, mapping }, story);
  },
});
