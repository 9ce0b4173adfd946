import { versionOf } from "../../lib/config/version.ts";
import { Tagged } from "../../lib/http/answer.ts";
import { mappingDetail, readDetail } from "../../lib/settings/mapping-states.ts";
import { onMapping } from "../on-mapping.ts";
import { engineReports, mappings, now, pauses, rowQueriesOf } from "../services/composition.ts";

export const handler = onMapping({
  route: "read-mapping",
  summary: "One mapping: its settings, how far it is, its lag, its calls, and why it is broken if it is.",
  output: mappingDetail,
  run: async ({ resource: mapping, workspace }) =>
    new Tagged(
      await readDetail(
        { mappings: mappings(), engine: engineReports(), rowQueries: rowQueriesOf(), pauses: pauses() },
        workspace,
        mapping,
        now(),
      ),
      versionOf(mapping),
    ),
});
