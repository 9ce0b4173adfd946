import * as z from "zod/mini";
import { Paged } from "../../lib/http/answer.ts";
import { filterText, page } from "../../lib/http/input.ts";
import { toSnakeCase } from "../../lib/model/snake-case.ts";
import { withDatabase } from "../../lib/monitoring/with-database.ts";
import { inboundErrorView } from "../../lib/settings/row-ports.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { mappings, rowQueriesOf } from "../services/composition.ts";

export const handler = onLambda({
  route: "list-inbound-errors",
  summary: "Records that could not become rows, and why, most recent first. They are tried again when they change.",
  input: z.object({ ...page(), mapping_id: z.optional(filterText()) }),
  output: inboundErrorView,
  run: async ({ input, workspace }) => {
    const { limit, offset, mapping_id: mappingId = null } = input;
    const [{ rows: found, total }, listing] = await Promise.all([
      withDatabase(rowQueriesOf(), workspace, (queries) => queries.inboundErrors(mappingId, { limit, offset })),
      mappings().list(workspace.id),
    ]);
    const objects = new Map(listing.mappings.map(({ id, sfObject }) => [id, sfObject]));
    const named = found.map((row) => ({ ...row, sfObject: objects.get(row.mappingId) ?? null }));
    return new Paged({ rows: named.map((row) => toSnakeCase(inboundErrorView, row)), total }, input);
  },
});
