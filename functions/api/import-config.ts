import * as z from "zod/mini";
import { importConfig as importDocument } from "../../lib/config/import-config.ts";
import { importResult } from "../../lib/http/contract.ts";
import { endpoint } from "../../lib/http/endpoint.ts";
import { flag } from "../../lib/http/input.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { mappingServices } from "../services/mapping-services.ts";

/** Makes the workspace's mappings what a config document says (spec 4, endpoint 8); `?dry_run=true` tells the plan. */
export const importConfig = endpoint({
  route: "import-config",
  summary: "Makes the workspace's mappings what a config document says; ?dry_run=true tells the plan.",
  input: z.object({ dry_run: flag(), body: z.unknown() }),
  output: importResult,
  services: mappingServices,
  run: ({ input, workspace, services, actor, at, ifMatch }) =>
    importDocument(services, { workspace, actor, at, document: input.body, ifMatch, dryRun: input.dry_run }),
});

export const handler = onLambda(importConfig);
