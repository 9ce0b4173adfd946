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
  services: () => ({ connections: connections() }),
  run: async ({ input, workspace, services, actor, at }) =>
    viewConnections(await change(services, { workspace, actor, at }, input.body)),
});
