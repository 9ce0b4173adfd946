import { Failure } from "../../lib/model/failure.ts";
import { withDatabase } from "../../lib/monitoring/with-database.ts";
import { changeView, viewChange } from "../../lib/settings/change-story.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { rowQueriesOf } from "../services/composition.ts";

export const handler = onLambda({
  route: "read-change",
  summary: "One change of a row: what it was before and after, when it was sent, and what Salesforce said.",
  output: changeView,
  run: async ({ path, workspace }) => {
    const id = /^\d{1,15}$/.test(path.change_id) ? Number(path.change_id) : 0;
    const story = await withDatabase(rowQueriesOf(), workspace, (queries) => queries.change(id));
    if (story === null) {
      throw new Failure("NOT_FOUND", "the trigger log has no change with this id; settled ones are kept for 31 days");
    }
    return viewChange(story);
  },
});
