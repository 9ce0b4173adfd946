import * as z from "zod/mini";
import { adoptHerokuConnect as adopt, adoption } from "../../lib/heroku-connect/adopt-heroku-connect.ts";
import { flag } from "../../lib/http/input.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { auditLog, herokuConnectSchemas } from "../services/composition.ts";

export const handler = onLambda({
  route: "adopt-heroku-connect",
  summary:
    "Adopts the schema that Heroku Connect has been writing: its log is moved aside, and each table changes hands, with the changes that wait, when its mapping is created; ?dry_run=true changes nothing.",
  input: z.object({ dry_run: flag() }),
  output: adoption,
  run: ({ input, workspace, actor, at }) =>
    adopt({ theirs: herokuConnectSchemas, audit: auditLog() }, { workspace, actor, at, dryRun: input.dry_run }),
});
