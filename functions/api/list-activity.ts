import * as z from "zod/mini";
import { Paged } from "../../lib/http/answer.ts";
import { activityRow } from "../../lib/http/contract.ts";
import { filterText, oneOf, page, rowCursor, valueText } from "../../lib/http/input.ts";
import { STATES } from "../../lib/model/change/change.ts";
import { withDatabase } from "../../lib/monitoring/with-database.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { monitoring } from "../services/composition.ts";

export const handler = onLambda({
  route: "list-activity",
  onlyReads: true,
  summary: "The trigger log of the workspace, most recent first.",
  input: z.object({
    ...page(),
    before_id: rowCursor(),
    state: z.optional(oneOf(STATES)),
    table: z.optional(filterText()),
    sfid: z.optional(filterText()),
    row: rowCursor(),
    key: z.optional(valueText()),
  }),
  output: activityRow,
  run: async ({ input, workspace }) => {
    const { limit, offset, before_id: before, state = null, table = null, sfid = null, row = null, key = null } = input;
    const named = sfid === null && row === null && key === null ? undefined : { sfid, row, key };
    const found = await withDatabase(monitoring(), workspace, (database) =>
      database.listActivity({ limit, offset, before, state, table, named }),
    );
    return new Paged(found, input);
  },
});
