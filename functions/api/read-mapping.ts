import { findMapping } from "../../lib/config/find-mapping.ts";
import { versionOf } from "../../lib/config/version.ts";
import { Tagged } from "../../lib/http/answer.ts";
import { mappingDetail, readDetail } from "../../lib/settings/mapping-states.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { engineReports, mappings, now, pauses, rowQueriesOf } from "../services/composition.ts";

export const handler = onLambda({
  route: "read-mapping",
  summary: "One mapping: its settings, how far it is, its lag, its calls, and why it is broken if it is.",
  output: mappingDetail,
  services: () => ({ mappings: mappings(), engine: engineReports(), desks: rowQueriesOf(), pauses: pauses() }),
  find: ({ path, workspace, services }) => findMapping(services.mappings, workspace.id, path.mapping_id),
  run: async ({ resource: mapping, workspace, services }) =>
    new Tagged(await readDetail(services, workspace, mapping, now()), versionOf(mapping)),
});
