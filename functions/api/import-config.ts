import * as z from "zod/mini";
import { importConfig as importDocument } from "../../lib/config/import-config.ts";
import { importResult } from "../../lib/http/contract.ts";
import { flag } from "../../lib/http/input.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { costThen, readCostThen } from "../../lib/settings/budget.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { counters, engineReports, mappings, usage } from "../services/composition.ts";
import { mappingServices } from "../services/mapping-services.ts";

export const handler = onLambda({
  route: "import-config",
  summary: "Changes the workspace's mappings to what a config document says; ?dry_run=true gives the plan.",
  input: z.object({ dry_run: flag(), body: z.unknown() }),
  output: z.extend(importResult, { calls: z.optional(costThen) }),
  run: ({ input, workspace, actor, at, ifMatch }) =>
    importDocument(
      {
        ...mappingServices(),
        readCost: (...asked: [workspaceId: string, at: Date, then: readonly Mapping[]]) =>
          readCostThen(
            { mappings: mappings(), engine: engineReports(), counters: counters(), readUsage: usage() },
            ...asked,
          ),
      },
      { workspace, actor, at, document: input.body, ifMatch, dryRun: input.dry_run },
    ),
});
