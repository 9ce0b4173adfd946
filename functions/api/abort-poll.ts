import { abortResult } from "../../lib/http/contract.ts";
import { abortPoll as abort } from "../../lib/monitoring/abort-poll.ts";
import { onMapping } from "../on-mapping.ts";
import { auditLog, monitoring } from "../services/composition.ts";

export const handler = onMapping({
  route: "abort-poll",
  summary: "Ends the running cycle of one mapping.",
  output: abortResult,
  run: ({ who }) => abort({ monitoring: monitoring(), audit: auditLog() }, who),
});
