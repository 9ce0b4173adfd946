import { dryRunView, readDryRun as read } from "../../lib/settings/dry-run/dry-run.ts";
import { onMapping } from "../on-mapping.ts";
import { rowQueriesOf } from "../services/composition.ts";

export const handler = onMapping({
  route: "read-dry-run",
  summary:
    "How far the last dry run of a mapping is and what it found: how many rows match a record, how many differ and in which fields, which side would be changed, and up to five rows with both values.",
  output: dryRunView,
  run: ({ who }) => read({ rowQueries: rowQueriesOf() }, who),
});
