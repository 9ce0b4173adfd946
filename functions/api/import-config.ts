import * as z from "zod/mini";
import { importConfig as importDocument } from "../../lib/config/import-config.ts";
import { endpoint } from "../../lib/http/endpoint.ts";
import { flag } from "../../lib/http/input.ts";
import { eventIdOf } from "../../lib/webhooks/derived-id.ts";
import { counters, eventWakeUps, importPlans, mappings, org, provisioningQueue } from "../composition.ts";
import { onLambda } from "../on-lambda.ts";

/** Makes the workspace's mappings what a config document says (spec 4, endpoint 8); `?dry_run=true` tells the plan. */
export const importConfig = endpoint({
  route: "import-config",
  input: z.object({ dry_run: flag(), body: z.unknown() }),
  services: () => ({
    mappings: mappings(),
    plans: importPlans(),
    org: org(),
    provisioning: provisioningQueue(),
    events: eventWakeUps(),
    counters: counters(),
    eventIdOf,
  }),
  run: ({ input, workspace, services, actor, at }) =>
    importDocument(services, { workspace, actor, at, document: input.body, dryRun: input.dry_run }),
});

export const handler = onLambda(importConfig);
