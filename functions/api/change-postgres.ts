import * as z from "zod/mini";
import { changePostgres as change } from "../../lib/settings/connect-postgres.ts";
import { postgresChange } from "../../lib/settings/connection-input.ts";
import { connectionsView, viewConnections } from "../../lib/settings/connection-view.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { connections } from "../services/composition.ts";

export const handler = onLambda({
  route: "change-postgres",
  summary:
    "Says who changes the mapped tables, Bridge itself (apply) or the application by migrations that Bridge proposes, and how many connections Bridge opens at most.",
  input: z.object({ body: postgresChange }),
  output: connectionsView,
  run: async ({ input, workspace, actor, at }) =>
    viewConnections(await change({ connections: connections() }, { workspace, actor, at }, input.body)),
});
