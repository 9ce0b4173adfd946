import { Headed } from "../../lib/http/answer.ts";
import { pollResult } from "../../lib/http/contract.ts";
import { pollNow as poll } from "../../lib/monitoring/poll-now.ts";
import { onMapping } from "../on-mapping.ts";
import { auditLog, monitoring, pauses, polls, queue } from "../services/composition.ts";

export const handler = onMapping({
  route: "poll-now",
  summary:
    "Runs a cycle for one mapping now, beside the schedule. The header `Bridge-Cycle` names it, or with `triggered: false` the one that runs: `cycles/<mark>?wait=20` waits for its end.",
  output: pollResult,
  run: async ({ who }) => {
    const { result, mark } = await poll(
      { monitoring: monitoring(), audit: auditLog(), cycles: queue("cycles"), pauses: pauses(), polls: polls() },
      who,
    );
    return new Headed(result, mark === null ? {} : { "Bridge-Cycle": mark });
  },
});
