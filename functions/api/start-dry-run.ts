import { dryRunView, startDryRun as start } from "../../lib/settings/dry-run/dry-run.ts";
import { onMapping } from "../on-mapping.ts";
import { auditLog, queue, rowQueriesOf } from "../services/composition.ts";

export const handler = onMapping({
  route: "start-dry-run",
  summary:
    "Compares the rows of a mapping with the records that they would meet for the first time, by the upsert field or by an sfid that the application has set; changes nothing. Every record is read once. GET the same path for the progress and the result. Where PostgreSQL wins and more than 100 records would change, a first load waits until the digest of this is given to `activate`.",
  output: dryRunView,
  run: ({ who }) => start({ rowQueries: rowQueriesOf(), audit: auditLog(), loads: queue("loads") }, who),
});
