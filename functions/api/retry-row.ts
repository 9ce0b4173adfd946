import { Failure } from "../../lib/model/failure.ts";
import { retryFailed } from "../../lib/settings/change-rows.ts";
import { retriedView } from "../../lib/settings/row-ports.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { byHand } from "../services/composition.ts";

export const handler = onLambda({
  route: "retry-row",
  summary:
    "Makes one failed change wait again; the next cycle sends it. One that is not failed any more is left alone.",
  output: retriedView,
  find: async ({ path }) => {
    if (/^\d{1,15}$/.test(path.row_id)) return Number(path.row_id);
    throw new Failure("NOT_FOUND", "the trigger log has no row with this id");
  },
  run: ({ resource: id, workspace, actor, at }) =>
    retryFailed(byHand(), { workspace, actor, at }, { id, fingerprint: null, table: null }),
});
