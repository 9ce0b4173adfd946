import * as z from "zod/mini";
import { Paged } from "../../lib/http/answer.ts";
import { errorRow } from "../../lib/http/contract.ts";
import { filterText, page, rowCursor } from "../../lib/http/input.ts";
import { withDatabase } from "../../lib/monitoring/with-database.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { monitoring } from "../services/composition.ts";

export const handler = onLambda({
  route: "list-errors",
  onlyReads: true,
  summary: "The rows that Salesforce refused, most recent first.",
  input: z.object({ ...page(), before_id: rowCursor(), table: z.optional(filterText()) }),
  output: errorRow,
  run: async ({ input, workspace }) => {
    const { limit, offset, before_id: before, table = null } = input;
    const found = await withDatabase(monitoring(), workspace, (database) =>
      database.listErrors({ limit, offset, before, table }),
    );
    return new Paged(found, input);
  },
});
