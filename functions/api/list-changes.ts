import * as z from "zod/mini";
import { feed } from "../../lib/http/contract.ts";
import { filterText, pageSize } from "../../lib/http/input.ts";
import { cursorOf } from "../../lib/model/change/feed.ts";
import { followChanges } from "../../lib/monitoring/follow-changes.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { monitoring } from "../services/composition.ts";

export const handler = onLambda({
  route: "list-changes",
  summary:
    "Every change of the trigger log once, late commits included, for programs that follow it. Begin without `since`; then hand back `next`, at once while `more`. The state is that of the moment of reading.",
  input: z.object({
    since: z.optional(filterText()),
    limit: z._default(pageSize(500, 100), 100),
    table: z.optional(filterText()),
  }),
  output: feed,
  run: async ({ input: { since = null, limit, table = null }, workspace, at }) => {
    const { changes, next, more, waiting } = await followChanges(
      { monitoring: monitoring() },
      { workspace, since, table, limit, at },
    );
    return { changes, next: cursorOf(next), more, waiting };
  },
});
