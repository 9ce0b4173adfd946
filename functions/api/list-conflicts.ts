import * as z from "zod/mini";
import { Paged } from "../../lib/http/answer.ts";
import { filterText, page } from "../../lib/http/input.ts";
import { toSnakeCase } from "../../lib/model/snake-case.ts";
import { allows } from "../../lib/model/workspace/token.ts";
import { withDatabase } from "../../lib/monitoring/with-database.ts";
import { conflictView } from "../../lib/settings/row-ports.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { mappings, rowQueriesOf } from "../services/composition.ts";

export const handler = onLambda({
  route: "list-conflicts",
  summary:
    "Fields that changed on both sides, and which side won, most recent first; with the values if the token has the scope operate.",
  input: z.object({ ...page(), mapping_id: z.optional(filterText()) }),
  output: conflictView,
  run: async ({ input, token, workspace }) => {
    const { limit, offset, mapping_id: mappingId = null } = input;
    const [{ rows: found, total }, listing] = await Promise.all([
      withDatabase(rowQueriesOf(), workspace, (queries) => queries.conflicts(mappingId, { limit, offset })),
      mappings().list(workspace.id),
    ]);
    const objects = new Map(listing.mappings.map(({ id, sfObject }) => [id, sfObject]));
    const hidden = allows(token.scopes, "operate") ? {} : { base: null, postgres: null, salesforce: null };
    const named = found.map((row) => ({ ...row, ...hidden, sfObject: objects.get(row.mappingId) ?? null }));
    return new Paged({ rows: named.map((row) => toSnakeCase(conflictView, row)), total }, input);
  },
});
