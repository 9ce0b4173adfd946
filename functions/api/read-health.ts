import { readHealth as read } from "../../lib/health/read-health.ts";
import { health } from "../../lib/http/contract.ts";
import { endpoint } from "../../lib/http/endpoint.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { counters, engineReports, mappings, monitoring, orgReach } from "../services/composition.ts";

/** The health of both sides and of the sync between them (spec 4, endpoint 2). */
export const readHealth = endpoint({
  route: "read-health",
  onlyReads: true,
  summary: "The health of both sides and of the sync between them.",
  output: health,
  services: () => ({
    mappings: mappings(),
    monitoring: monitoring(),
    engine: engineReports(),
    reach: orgReach(),
    counters: counters(),
  }),
  run: ({ workspace, services }) => read(services, workspace),
});

export const handler = onLambda(readHealth);
