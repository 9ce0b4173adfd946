import * as z from "zod/mini";
import { filterText } from "../../lib/http/input.ts";
import { dismissFailed } from "../../lib/settings/change-rows.ts";
import { fingerprint } from "../../lib/settings/row-ports.ts";
import { body } from "../../lib/settings/shapes.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { byHand } from "../services/composition.ts";

export const handler = onLambda({
  route: "dismiss-rows",
  summary:
    "Dismisses failed changes, one, or those of a kind or table, or all, 10,000 a call; call again while some remain. They stay FAILED in the trigger log, where their errors end in (dismissed), and no longer count as failed. The next change of a row still sends what was dismissed of it.",
  input: z.object({
    body: body({
      id: z.optional(z.int({ error: "must be an id of the trigger log" })),
      fingerprint: z.optional(fingerprint()),
      table: z.optional(filterText()),
    }),
  }),
  output: z.object({ dismissed: z.int(), remaining: z.int() }),
  run: ({ input, workspace, actor, at }) => {
    const { id = null, fingerprint: kind = null, table = null } = input.body;
    return dismissFailed(byHand(), { workspace, actor, at }, { id, fingerprint: kind, table });
  },
});
