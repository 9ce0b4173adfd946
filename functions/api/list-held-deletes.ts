import * as z from "zod/mini";
import { findMapping } from "../../lib/config/find-mapping.ts";
import { Paged } from "../../lib/http/answer.ts";
import { pageOffset, pageSize } from "../../lib/http/input.ts";
import { toSnakeCase } from "../../lib/model/snake-case.ts";
import { withDatabase } from "../../lib/monitoring/with-database.ts";
import { heldDelete } from "../../lib/settings/held-deletes/reject-ports.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { mappings, rowQueriesOf } from "../services/composition.ts";

export const handler = onLambda({
  route: "list-held-deletes",
  summary:
    "Deletes of a mapping that the breaker holds back, on either side, until confirm-deletes lets them go or reject-deletes takes them back.",
  input: z.object({ limit: z._default(pageSize(200), 50), offset: pageOffset() }),
  output: heldDelete,
  services: () => ({ mappings: mappings(), desks: rowQueriesOf() }),
  find: ({ path, workspace, services }) => findMapping(services.mappings, workspace.id, path.mapping_id),
  run: async ({ input, resource: mapping, workspace, services }) => {
    const { rows, total } = await withDatabase(services.desks, workspace, (desk) =>
      desk.heldDeletes(mapping.id, input),
    );
    return new Paged(
      rows.map((row) => toSnakeCase(heldDelete, row)),
      { total, ...input },
    );
  },
});
