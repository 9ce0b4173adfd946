import * as z from "zod/mini";
import { readHealth as read } from "../../lib/health/read-health.ts";
import { health } from "../../lib/http/contract.ts";
import { flag } from "../../lib/http/input.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import {
  counters,
  engineReports,
  mappings,
  monitoring,
  now,
  orgReach,
  pauses,
  webhooks,
} from "../services/composition.ts";

export const handler = onLambda({
  route: "read-health",
  onlyReads: true,
  input: z.object({ incidents: flag() }),
  summary:
    "The health of both sides and of the sync between them; ?incidents=true adds what is wrong, each cause once.",
  output: health,
  run: ({ input, workspace, token }) =>
    read(
      {
        mappings: mappings(),
        monitoring: monitoring(),
        engine: engineReports(),
        reach: orgReach(),
        counters: counters(),
        pauses: pauses(),
        webhooks: webhooks(),
        now,
      },
      workspace,
      input.incidents ? token.scopes : null,
    ),
});
