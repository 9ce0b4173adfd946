import * as z from "zod/mini";
import { endpoint } from "../../lib/http/endpoint.ts";
import { changeSchemaChanges } from "../../lib/settings/connect-postgres.ts";
import { postgresChange } from "../../lib/settings/connection-input.ts";
import { connectionsView, viewConnections } from "../../lib/settings/connection-view.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { connections } from "../services/composition.ts";

/** Says who changes the mapped tables: Bridge, or the application by migrations that Bridge proposes. */
export const changePostgres = endpoint({
  route: "change-postgres",
  summary:
    "Says who changes the mapped tables: Bridge itself (apply), or the application by migrations that Bridge proposes.",
  input: z.object({ body: postgresChange }),
  output: connectionsView,
  services: () => ({ connections: connections() }),
  run: async ({ input, workspace, services, actor, at }) =>
    viewConnections(await changeSchemaChanges(services, { workspace, actor, at }, input.body.schema_changes)),
});

export const handler = onLambda(changePostgres);
