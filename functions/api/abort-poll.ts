import { findMapping } from "../../lib/config/find-mapping.ts";
import { abortResult } from "../../lib/http/contract.ts";
import { endpoint } from "../../lib/http/endpoint.ts";
import { abortPoll as abort } from "../../lib/monitoring/abort-poll.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { auditLog, mappings, monitoring } from "../services/composition.ts";

/** Ends the running cycle of one mapping (spec 4, endpoint 6). */
export const abortPoll = endpoint({
  route: "abort-poll",
  summary: "Ends the running cycle of one mapping.",
  output: abortResult,
  services: () => ({ mappings: mappings(), monitoring: monitoring(), audit: auditLog() }),
  find: ({ path, workspace, services }) => findMapping(services.mappings, workspace.id, path.mapping_id),
  run: ({ resource: mapping, workspace, services, actor, at }) => abort(services, { workspace, mapping, actor, at }),
});

export const handler = onLambda(abortPoll);
