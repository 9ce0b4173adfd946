import { findMapping } from "../../lib/config/find-mapping.ts";
import { versionOf } from "../../lib/config/version.ts";
import { Tagged } from "../../lib/http/answer.ts";
import { endpoint } from "../../lib/http/endpoint.ts";
import { mappingDetail, readDetail } from "../../lib/settings/mapping-states.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { engineReports, mappings, now, rowQueriesOf } from "../services/composition.ts";

/** One mapping with what the engine does with it. */
export const readMapping = endpoint({
  route: "read-mapping",
  summary: "One mapping: its settings, how far it is, its lag, its calls, and why it is broken if it is.",
  output: mappingDetail,
  services: () => ({ mappings: mappings(), engine: engineReports(), desks: rowQueriesOf() }),
  find: ({ path, workspace, services }) => findMapping(services.mappings, workspace.id, path.mapping_id),
  run: async ({ resource: mapping, workspace, services }) =>
    new Tagged(await readDetail(services, workspace, mapping, now()), versionOf(mapping)),
});

export const handler = onLambda(readMapping);
