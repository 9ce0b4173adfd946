import { readHealth as read } from "../../lib/health/read-health.ts";
import { health } from "../../lib/http/contract.ts";
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
  summary: "The health of both sides and of the sync between them.",
  output: health,
  run: ({ workspace, token }) =>
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
      token.scopes,
    ),
});
