import * as z from "zod/mini";
import { endpoint } from "../../lib/http/endpoint.ts";
import { flag } from "../../lib/http/input.ts";
import { adoptHerokuConnect as adopt, adoption } from "../../lib/settings/adopt-heroku-connect.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { auditLog, herokuConnectSchemas } from "../services/composition.ts";

/** Adopts the schema that Heroku Connect has been writing; `?dry_run=true` only looks. */
export const adoptHerokuConnect = endpoint({
  route: "adopt-heroku-connect",
  summary:
    "Adopts the schema that Heroku Connect has been writing: its log is moved aside, and each table changes hands, with the changes that wait, when its mapping is made; ?dry_run=true only looks.",
  input: z.object({ dry_run: flag() }),
  output: adoption,
  services: () => ({ theirs: herokuConnectSchemas, audit: auditLog() }),
  run: ({ input, workspace, services, actor, at }) => adopt(services, { workspace, actor, at, dryRun: input.dry_run }),
});

export const handler = onLambda(adoptHerokuConnect);
