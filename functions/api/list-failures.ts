import * as z from "zod/mini";
import { filterText } from "../../lib/http/input.ts";
import { toSnakeCase } from "../../lib/model/snake-case.ts";
import { allows } from "../../lib/model/workspace/token.ts";
import { withDatabase } from "../../lib/monitoring/with-database.ts";
import { failedRow, failureKind, fingerprint } from "../../lib/settings/row-ports.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { rowQueriesOf } from "../services/composition.ts";

export const handler = onLambda({
  route: "list-failures",
  summary:
    "Failed changes by kind, the most frequent first: those whose errors differ in names and numbers only. With `fingerprint` one kind with the latest 50 of its rows, and with what they would have written if the token has the scope operate.",
  input: z.object({ table: z.optional(filterText()), fingerprint: z.optional(fingerprint()) }),
  output: z.array(z.extend(failureKind, { rows: z.nullable(z.array(failedRow)) })),
  run: ({ input: { table = null, fingerprint: kind }, token, workspace }) =>
    withDatabase(rowQueriesOf(), workspace, async (queries) => {
      const kinds = (await queries.failures(table)).map((found) => toSnakeCase(failureKind, found));
      if (kind === undefined) return kinds.map((found) => ({ ...found, rows: null }));
      const rows = (await queries.failedRows(kind)).map((row) => toSnakeCase(failedRow, row));
      const shown = allows(token.scopes, "operate") ? rows : rows.map((row) => ({ ...row, name: null, values: null }));
      return kinds.filter((found) => found.fingerprint === kind).map((found) => ({ ...found, rows: shown }));
    }),
});
