import { findMapping } from "../../lib/config/find-mapping.ts";
import { dryRunView, readDryRun as read } from "../../lib/settings/dry-run/dry-run.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { mappings, rowQueriesOf } from "../services/composition.ts";

export const handler = onLambda({
  route: "read-dry-run",
  summary:
    "How far the last dry run of a mapping is and what it found: how many rows match a record, how many differ and in which fields, which side would be changed, and up to five rows with both values.",
  output: dryRunView,
  services: () => ({ mappings: mappings(), desks: rowQueriesOf() }),
  find: ({ path, workspace, services }) => findMapping(services.mappings, workspace.id, path.mapping_id),
  run: ({ resource: mapping, workspace, services, actor, at }) => read(services, { workspace, mapping, actor, at }),
});
