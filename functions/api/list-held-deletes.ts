import * as z from "zod/mini";
import { Paged } from "../../lib/http/answer.ts";
import { page } from "../../lib/http/input.ts";
import { toSnakeCase } from "../../lib/model/snake-case.ts";
import { withDatabase } from "../../lib/monitoring/with-database.ts";
import { heldDelete } from "../../lib/settings/held-deletes/reject-ports.ts";
import { onMapping } from "../on-mapping.ts";
import { rowQueriesOf } from "../services/composition.ts";

export const handler = onMapping({
  route: "list-held-deletes",
  summary:
    "Deletes of a mapping that the breaker holds back, on either side, until confirm-deletes lets them go or reject-deletes takes them back.",
  input: z.object(page()),
  output: heldDelete,
  run: async ({ input, resource: mapping, workspace }) => {
    const { rows, total } = await withDatabase(rowQueriesOf(), workspace, (queries) =>
      queries.heldDeletes(mapping.id, input),
    );
    return new Paged({ rows: rows.map((row) => toSnakeCase(heldDelete, row)), total }, input);
  },
});
