import * as z from "zod/mini";

import { flag } from "../../lib/http/input.ts";
import { connectPostgres } from "../../lib/settings/connect-postgres.ts";
import { postgresBody } from "../../lib/settings/connection-input.ts";
import { checked } from "../../lib/settings/findings.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { connections, databases, hostGuard, mappings, queue, refuseKept } from "../services/composition.ts";

export const handler = onLambda({
  route: "set-postgres",
  summary: "Connects the workspace to a PostgreSQL database after checking it; ?dry_run=true only checks.",
  input: z.object({ dry_run: flag(), body: postgresBody }),
  output: checked,
  run: async ({ input, workspace, actor, at }) => {
    const { url, schema: asked, take_over: takeOver, schema_changes: schemaChanges } = input.body;
    // Another schema by omission would load everything again, beside the tables that the application uses.
    const schema = asked ?? (await workspace.open()).postgres?.schema ?? "salesforce";
    const connection = { url, schema, ...(schemaChanges && { schemaChanges }) };
    return connectPostgres(
      {
        databases,
        hostGuard: hostGuard(),
        refuseKept,
        connections: connections(),
        mappings: mappings(),
        provisioning: queue("provisioning"),
      },
      { workspace, actor, at, connection, takeOver, dryRun: input.dry_run },
    );
  },
});
