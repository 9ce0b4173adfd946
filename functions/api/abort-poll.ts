import { findMapping } from "../../lib/config/find-mapping.ts";
import { abortResult } from "../../lib/http/contract.ts";
import { abortPoll as abort } from "../../lib/monitoring/abort-poll.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { auditLog, mappings, monitoring } from "../services/composition.ts";

export const handler = onLambda({
  route: "abort-poll",
  summary: "Ends the running cycle of one mapping.",
  output: abortResult,
  services: () => ({ mappings: mappings(), monitoring: monitoring(), audit: auditLog() }),
  find: ({ path, workspace, services }) => findMapping(services.mappings, workspace.id, path.mapping_id),
  run: ({ resource: mapping, workspace, services, actor, at }) => abort(services, { workspace, mapping, actor, at }),
});
