import * as z from "zod/mini";
import { filterText, flag, oneOf, pageSize, valueText } from "../../lib/http/input.ts";
import { ROW_STATES } from "../../lib/model/record/row-state.ts";
import { allows } from "../../lib/model/workspace/token.ts";
import { browseRows, cursorIn, rowsView } from "../../lib/settings/rows/browse-rows.ts";
import { onMapping } from "../on-mapping.ts";
import { recordsOf, rowQueriesOf } from "../services/composition.ts";

const cursor = z
  .string({ error: "must be a text" })
  .check(z.refine((text) => cursorIn(text) !== null, { error: "must be `next` of an answer" }));

export const handler = onMapping({
  route: "list-rows",
  summary:
    "Rows of the mapped table by their keys, each with its state: `failed`, `conflict` (in the last 31 days), `waiting`, `no_record` or `synced`; continue with `after`, the `next` of the answer. `find` searches a mapped column, or all of them and the record's id. Values and a search take the scope operate; `sides` adds what the records hold otherwise, for one API call of the org.",
  input: z.object({
    state: z.optional(oneOf(ROW_STATES)),
    sort: z._default(oneOf(["key", "state"]), "key"),
    find: z.optional(valueText()),
    column: z.optional(filterText()),
    after: z.optional(cursor),
    limit: z._default(pageSize(100), 50),
    sides: flag(),
  }),
  output: rowsView,
  run: ({ input, who: { workspace, mapping }, token }) =>
    browseRows(
      { rowQueries: rowQueriesOf(), recordsOf: recordsOf() },
      {
        ...{ workspace, mapping, limit: input.limit },
        ...{ state: input.state ?? null, find: input.find ?? null, column: input.column ?? null },
        after: input.after === undefined ? null : cursorIn(input.after),
        sortsByState: input.sort === "state",
        showsValues: allows(token.scopes, "operate"),
        comparesSides: input.sides,
      },
    ),
});
