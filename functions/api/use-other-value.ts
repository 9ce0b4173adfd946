import * as z from "zod/mini";
import { Failure } from "../../lib/model/failure.ts";
import { useOtherValue as useOther } from "../../lib/settings/change-rows.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { auditLog, mappings, rowQueriesOf } from "../services/composition.ts";

export const handler = onLambda({
  route: "use-other-value",
  summary:
    "Gives a row the value that lost a conflict, as long as it holds the one that won; the change is captured and sent like any other.",
  output: z.object({ conflict_id: z.int() }),
  find: async ({ path }) => {
    if (/^\d{1,15}$/.test(path.conflict_id)) return Number(path.conflict_id);
    throw new Failure("NOT_FOUND", "there is no conflict with this id");
  },
  run: async ({ resource: id, workspace, actor, at }) => {
    await useOther(
      { mappings: mappings(), rowQueries: rowQueriesOf(), audit: auditLog() },
      { workspace, actor, at },
      id,
    );
    return { conflict_id: id };
  },
});
