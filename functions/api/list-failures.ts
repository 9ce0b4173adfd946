import * as z from "zod/mini";
import { endpoint } from "../../lib/http/endpoint.ts";
import { filterText } from "../../lib/http/input.ts";
import { toSnakeCase } from "../../lib/model/snake-case.ts";
import { withDatabase } from "../../lib/monitoring/with-database.ts";
import { failureKind } from "../../lib/settings/row-ports.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { rowQueriesOf } from "../services/composition.ts";

/** Failed changes by kind, the most frequent first. */
export const listFailures = endpoint({
  route: "list-failures",
  summary: "Failed changes by kind, the most frequent first: those whose errors differ in names and numbers only.",
  input: z.object({ table: z.optional(filterText()) }),
  output: z.array(failureKind),
  services: () => ({ desks: rowQueriesOf() }),
  run: async ({ input, workspace, services }) => {
    const kinds = await withDatabase(services.desks, workspace, (desk) => desk.failures(input.table ?? null));
    return kinds.map((kind) => toSnakeCase(failureKind, kind));
  },
});

export const handler = onLambda(listFailures);
