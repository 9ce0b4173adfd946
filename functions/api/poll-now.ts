import { findMapping } from "../../lib/config/find-mapping.ts";
import { pollResult } from "../../lib/http/contract.ts";
import { endpoint } from "../../lib/http/endpoint.ts";
import { pollNow as poll } from "../../lib/monitoring/poll-now.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { auditLog, mappings, monitoring, queue } from "../services/composition.ts";

/** Runs a cycle for one mapping now, beside the schedule (spec 4, endpoint 5). */
export const pollNow = endpoint({
  route: "poll-now",
  summary: "Runs a cycle for one mapping now, beside the schedule.",
  output: pollResult,
  services: () => ({ mappings: mappings(), monitoring: monitoring(), audit: auditLog(), cycles: queue("cycles") }),
  find: ({ path, workspace, services }) => findMapping(services.mappings, workspace.id, path.mapping_id),
  run: ({ resource: mapping, workspace, services, actor, at }) => poll(services, { workspace, mapping, actor, at }),
});

export const handler = onLambda(pollNow);
