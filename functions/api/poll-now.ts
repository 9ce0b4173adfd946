import { findMapping } from "../../lib/config/find-mapping.ts";
import { Headed } from "../../lib/http/answer.ts";
import { pollResult } from "../../lib/http/contract.ts";
import { pollNow as poll } from "../../lib/monitoring/poll-now.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { auditLog, mappings, monitoring, pauses, polls, queue } from "../services/composition.ts";

export const handler = onLambda({
  route: "poll-now",
  summary:
    "Runs a cycle for one mapping now, beside the schedule. The header `Bridge-Cycle` names it, or with `triggered: false` the one that runs: `cycles/<mark>?wait=20` waits for its end.",
  output: pollResult,
  services: () => ({
    mappings: mappings(),
    monitoring: monitoring(),
    audit: auditLog(),
    cycles: queue("cycles"),
    pauses: pauses(),
    polls: polls(),
  }),
  find: ({ path, workspace, services }) => findMapping(services.mappings, workspace.id, path.mapping_id),
  run: async ({ resource: mapping, workspace, services, actor, at }) => {
    const { result, mark } = await poll(services, { workspace, mapping, actor, at });
    return new Headed(result, mark === null ? {} : { "Bridge-Cycle": mark });
  },
});
