import * as z from "zod/mini";
import { changeRetention as change } from "../../lib/settings/connect-postgres.ts";
import { retentionChange } from "../../lib/settings/connection-input.ts";
import { connectionsView, viewConnections } from "../../lib/settings/connection-view.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { connections } from "../services/composition.ts";

export const handler = onLambda({
  route: "change-retention",
  summary:
    "How many days the workspace's database keeps settled changes (31), conflicts (31) and tombstones (31), and with which autovacuum parameters its log is vacuumed; what is left out stays as it was. Days hold from the next cycle on, parameters from the next daily check.",
  input: z.object({ body: retentionChange }),
  output: connectionsView,
  run: async ({ input, workspace, actor, at }) =>
    viewConnections(await change({ connections: connections() }, { workspace, actor, at }, input.body)),
});
