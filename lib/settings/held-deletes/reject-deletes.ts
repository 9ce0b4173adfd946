import * as z from "zod/mini";
import { pushes } from "../../model/mapping/mapping.ts";
import { toSnakeCase } from "../../model/snake-case.ts";
import { withDatabase } from "../../monitoring/with-database.ts";
import { type Needs, noteMapping, type OnMapping, refusal } from "../change-rows.ts";
import { type ChosenDeletes, named, stayingDelete } from "./reject-ports.ts";

/** What rejecting held deletes has come to, or with `dry_run` would come to. */
export const rejectedView = z.object({
  mapping_id: z.string(),
  rows: z.int(),
  records: z.int(),
  recreated: z.int(),
  gone: z.int(),
  staying: z.array(stayingDelete),
  lost_columns: z.array(z.string()),
  lost_children: z.array(z.string()),
  next: z.nullable(z.string()),
});
type RejectedView = z.infer<typeof rejectedView>;

/** Rows of one call. */
const ROWS_AT_ONCE = 1_000;

/** Says what cannot come back, and what would. */
export async function forecastReject(
  { rowQueries }: Pick<Needs, "rowQueries">,
  { workspace, mapping }: OnMapping,
  only: ChosenDeletes | null,
): Promise<RejectedView> {
  const { lostColumns, lostChildren, ...found } = await withDatabase(rowQueries, workspace, (queries) =>
    queries.forecastReject(mapping.id, only),
  );
  return { ...nothing(mapping.id), ...found, lost_columns: [...lostColumns], lost_children: [...lostChildren] };
}

interface Asked {
  /** The last id of the log of the call before; null: from the first on. */
  readonly after: number | null;
  readonly recreate: boolean;
  readonly only: ChosenDeletes | null;
}

/**
 * Takes held deletes back: inserts rows again, and after the last of them has the next cycles undelete the records. Call
 * again with `next` until it is null.
 */
export async function rejectDeletes(
  needs: Needs,
  who: OnMapping,
  { after, recreate, only }: Asked,
): Promise<RejectedView> {
  const { id, sfObject, upsertField, syncDirection } = who.mapping;
  // Only an upsert field distinguishes a new record from a second one, should its answer be lost.
  if (recreate && (upsertField === null || !pushes(syncDirection)))
    throw refusal(sfObject, "creates no record again without an upsert field and a direction to Salesforce");
  await noteMapping(needs, who, "deletes.rejected", { recreate, ...named(only) });
  return withDatabase(needs.rowQueries, who.workspace, async (queries) => {
    const { done: rows, staying, last } = await queries.putBackRows(id, after, ROWS_AT_ONCE, only);
    const view = { ...nothing(id), rows, staying: staying.map((one) => toSnakeCase(stayingDelete, one)) };
    if (last !== null) return { ...view, next: String(last) };
    const again = recreate ? await queries.captureAsNew(id, only) : { done: 0, staying: [] };
    return {
      ...view,
      records: await queries.undeleteLater(id, only),
      recreated: again.done,
      staying: [...view.staying, ...again.staying.map((one) => toSnakeCase(stayingDelete, one))],
    };
  });
}

const nothing = (mappingId: string): RejectedView => ({
  mapping_id: mappingId,
  rows: 0,
  records: 0,
  recreated: 0,
  gone: 0,
  staying: [],
  lost_columns: [],
  lost_children: [],
  next: null,
});
