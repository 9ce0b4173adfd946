import * as z from "zod/mini";
import { mappingNamed } from "../../lib/settings/rows/find-row.ts";
import { rowValues, writeRow as write, writtenView } from "../../lib/settings/rows/write-row.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { byHand, mappings } from "../services/composition.ts";

export const handler = onLambda({
  route: "write-row",
  summary:
    "Writes mapped columns of a row, as its application would, in the name of the token's owner (`bridge.actor`): the change is captured and sent like any other. `table` is a mapped table or its object, `key` the row's own key. Nothing is written where a column no longer holds what `was` says, or where PostgreSQL refuses a value; the error names the column.",
  input: z.object({ body: rowValues }),
  output: writtenView,
  find: ({ path, workspace }) => mappingNamed(mappings(), workspace.id, path.table),
  run: ({ resource: mapping, path, input, workspace, actor, at }) =>
    write(byHand(), { workspace, actor, at, mapping }, path.key, input.body),
});
