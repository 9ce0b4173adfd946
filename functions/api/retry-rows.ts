import * as z from "zod/mini";
import { filterText } from "../../lib/http/input.ts";
import { retryFailed } from "../../lib/settings/change-rows.ts";
import { fingerprint, retriedView } from "../../lib/settings/row-ports.ts";
import { body } from "../../lib/settings/shapes.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { byHand } from "../services/composition.ts";

export const handler = onLambda({
  route: "retry-rows",
  summary:
    "Makes failed changes wait again, of one kind or table or all, 10,000 a call; call again while some remain. What ended in doubt goes by its id or kind alone.",
  input: z.object({
    body: body({
      fingerprint: z.optional(fingerprint()),
      table: z.optional(filterText()),
    }),
  }),
  output: retriedView,
  run: ({ input, workspace, actor, at }) => {
    const { fingerprint: kind = null, table = null } = input.body;
    return retryFailed(byHand(), { workspace, actor, at }, { id: null, fingerprint: kind, table });
  },
});
