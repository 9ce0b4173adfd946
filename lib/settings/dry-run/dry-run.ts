import * as z from "zod/mini";
import { Failure } from "../../model/failure.ts";
import { newId } from "../../model/id.ts";
import { pulls } from "../../model/mapping/mapping.ts";
import type { LoadMessage, Queue } from "../../model/messages.ts";
import { type DryRun, newDryRun } from "../../model/record/dry-run.ts";
import { toSnakeCase } from "../../model/snake-case.ts";
import { withDatabase } from "../../monitoring/with-database.ts";
import { type Needs, noteMapping, type OnMapping, refusal } from "../change-rows.ts";
import { nullableTimestamp } from "../shapes.ts";

/** What activating a mapping would do to rows and records of the same key that have not met yet. */
export const dryRunView = z.object({
  mapping_id: z.string(),
  state: z.enum(["none", "running", "failing", "done"]),
  error: z.nullable(z.string()),
  started_at: nullableTimestamp(),
  ended_at: nullableTimestamp(),
  records: z.nullable(z.int()),
  read: z.int(),
  matched: z.int(),
  differing: z.int(),
  records_changed: z.int(),
  rows_changed: z.int(),
  records_refused: z.int(),
  fields: z.array(z.object({ field: z.string(), rows: z.int() })),
  samples: z.array(
    z.object({
      sfid: z.string(),
      record_id: z.int(),
      differences: z.array(
        z.object({
          field: z.string(),
          postgres: z.nullable(z.string()),
          salesforce: z.nullable(z.string()),
          winner: z.enum(["postgres", "salesforce"]),
          refused: z.nullable(z.string()),
        }),
      ),
    }),
  ),
  digest: z.nullable(z.string()),
  confirmed: z.boolean(),
});
type DryRunView = z.infer<typeof dryRunView>;

/** The last dry run of a mapping. */
export const readDryRun = async (
  needs: Pick<Needs, "rowQueries">,
  { workspace, mapping }: OnMapping,
): Promise<DryRunView> =>
  viewOf(mapping.id, await withDatabase(needs.rowQueries, workspace, (queries) => queries.dryRun(mapping.id)));

/** Begins a dry run, in place of one that has not ended. */
export async function startDryRun(
  needs: Needs & { readonly loads: Queue<LoadMessage> },
  who: OnMapping,
): Promise<DryRunView> {
  const { id, sfObject, syncDirection } = who.mapping;
  if (!pulls(syncDirection)) throw refusal(sfObject, "only writes to Salesforce: its rows meet no records");
  await noteMapping(needs, who, "mapping.compared");
  const asked = newDryRun(newId("run"), who.at);
  const run = await withDatabase(needs.rowQueries, who.workspace, (queries) => queries.startDryRun(id, asked));
  if (run === null) throw new Failure("CONFLICT", `the table of ${sfObject} is not ready yet: try again in a minute`);
  await needs.loads.send([{ message: { workspace_id: who.workspace.id, mapping_id: id, kind: "dry_run" } }]);
  return viewOf(id, run);
}

/** Agrees to a dry run, so that the first load continues. Refuses a digest of another one with CONFLICT. */
export async function confirmDryRun(needs: Needs, who: OnMapping, digest: string): Promise<void> {
  await noteMapping(needs, who, "mapping.dry_run_confirmed", { digest });
  const { id, sfObject } = who.mapping;
  if (await withDatabase(needs.rowQueries, who.workspace, (queries) => queries.confirmDryRun(id, digest))) return;
  throw new Failure(
    "CONFLICT",
    `the digest is not that of the last dry run of ${sfObject}: look at it again (GET …/dry-run, bridge mapping dry-run ${sfObject})`,
  );
}

function viewOf(mappingId: string, run: DryRun | null): DryRunView {
  const shown = run ?? newDryRun("", new Date(0));
  const isDone = shown.endedAt !== null;
  return toSnakeCase(dryRunView, {
    ...shown,
    mappingId,
    state: run === null ? "none" : isDone ? "done" : shown.error !== null ? "failing" : "running",
    startedAt: run && new Date(run.startedAt),
    endedAt: shown.endedAt === null ? null : new Date(shown.endedAt),
    recordsChanged: shown.toSalesforce,
    rowsChanged: shown.toPostgres,
    recordsRefused: shown.refused ?? 0,
    samples: shown.samples.map((one) => ({
      ...one,
      // Versions up to 0.3 said nothing of it.
      differences: one.differences.map((each) => ({ ...each, refused: each.refused ?? null })),
    })),
    fields: Object.entries(shown.fields)
      .map(([field, rows]) => ({ field, rows }))
      .toSorted((one, other) => other.rows - one.rows),
    confirmed: isDone && shown.confirmed === shown.digest,
  });
}
