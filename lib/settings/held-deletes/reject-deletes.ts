import * as z from "zod/mini";
import { SalesforceRefusal } from "../../model/change/refusal.ts";
import { errorText } from "../../model/change/row-error.ts";
import { Failure } from "../../model/failure.ts";
import { pushes } from "../../model/mapping/mapping.ts";
import { whichAreDeleted } from "../../model/mapping/soql.ts";
import { toSnakeCase } from "../../model/snake-case.ts";
import { withDatabase } from "../../monitoring/with-database.ts";
import type { Salesforce } from "../../sync/ports/cycle-ports.ts";
import { noteMapping, type OnMapping, type Needs as RowNeeds } from "../change-rows.ts";
import { explainRefusal } from "../explain-refusal.ts";
import { type ChosenDeletes, named, type Rejections, type StayingDelete, stayingDelete } from "./reject-ports.ts";

type Org = Pick<Salesforce, "write" | "query">;

interface Needs extends RowNeeds {
  /** The workspace's org, for saves; its calls are counted. Rejects with `SalesforceRefusal`. */
  readonly withOrg: <Answer>(workspaceId: string, work: (org: Org) => Promise<Answer>) => Promise<Answer>;
}

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

/** Where to continue: behind an id of the log, or behind a record. */
const PLACE = /^(?:log:(-?\d{1,19})|record:(\w{0,18}))$/;

export const isPlace = (text: string): boolean => PLACE.test(text);

/** Rows of one call, and records, which take one save. */
const ROWS_AT_ONCE = 1_000;
const RECORDS_AT_ONCE = 100;

/** Says what cannot come back, and what would. */
export async function forecastReject(
  needs: RowNeeds,
  { workspace, mapping }: OnMapping,
  only: ChosenDeletes | null,
): Promise<RejectedView> {
  const { lostColumns, lostChildren, ...found } = await withDatabase(needs.rowQueries, workspace, (queries) =>
    queries.forecastReject(mapping.id, only),
  );
  return { ...nothing(mapping.id), ...found, lost_columns: [...lostColumns], lost_children: [...lostChildren] };
}

/** Takes some held deletes back: those of rows first, then those of records. Call again with `next` until it is null. */
export async function rejectDeletes(
  needs: Needs,
  who: OnMapping,
  { after, recreate, only }: { after: string | null; recreate: boolean; only: ChosenDeletes | null },
): Promise<RejectedView> {
  const { workspace, mapping } = who;
  const [, id, record] = PLACE.exec(after ?? "") ?? [];
  await noteMapping(needs, who, "deletes.rejected", { recreate, ...named(only) });
  return withDatabase(needs.rowQueries, workspace, async (queries) => {
    if (record === undefined) {
      const { done, staying, last } = await queries.putBackRows(mapping.id, id ? Number(id) : null, ROWS_AT_ONCE, only);
      const next = last === null ? "record:" : `log:${last}`;
      return { ...nothing(mapping.id), rows: done, staying: staying.map(asView), next };
    }
    const held = await queries.heldRecords(mapping.id, record, RECORDS_AT_ONCE, only);
    const last = held.length < RECORDS_AT_ONCE ? undefined : held.at(-1);
    const next = last === undefined ? null : `record:${last}`;
    if (held.length === 0) return nothing(mapping.id);
    const undeleted = await needs.withOrg(workspace.id, (org) => undelete(queries, org, who, held)).catch(explain);
    return { ...nothing(mapping.id), ...(await createAgain(queries, who, undeleted, recreate)), next };
  });
}

interface Undeleted {
  readonly records: number;
  readonly staying: readonly StayingDelete[];
  /** Records that no recycle bin holds any more. */
  readonly gone: readonly string[];
}

async function undelete(
  queries: Rejections,
  org: Org,
  { mapping }: OnMapping,
  sfids: readonly string[],
): Promise<Undeleted> {
  const records = sfids.map((id) => ({ id, values: {} }));
  const { results } = await org.write("undelete", mapping.sfObject, records, null);
  const back = sfids.filter((_, index) => results[index]?.success);
  if (back.length > 0) await queries.keepRows(mapping.id, back);
  if (back.length === sfids.length) return { records: back.length, staying: [], gone: [] };
  const found = await org.query(whichAreDeleted(mapping.sfObject, sfids));
  const isDeleted = new Map(found.records.map((record) => [record["Id"], record["IsDeleted"] === true]));
  const refused = sfids.flatMap((sfid, index) => {
    const result = results[index];
    return result?.success ? [] : [{ sfid, reason: whyRefused(isDeleted.get(sfid), errorText(result?.errors ?? [])) }];
  });
  return {
    records: back.length,
    staying: refused.flatMap(({ sfid, reason }) => (reason === null ? [] : [staying(sfid, reason)])),
    gone: refused.flatMap(({ sfid, reason }) => (reason === null ? [sfid] : [])),
  };
}

/** Null: the record is gone for good. */
function whyRefused(isDeleted: boolean | undefined, error: string): string | null {
  if (isDeleted === false) {
    return "the record is not deleted in Salesforce: it has left the mapping's filter, and its row leaves with it";
  }
  return isDeleted === undefined || /recycle bin/i.test(error) ? null : error;
}

/** Only an upsert field distinguishes a new record from a second one, should its answer be lost. */
async function createAgain(
  queries: Rejections,
  { mapping }: OnMapping,
  { records, staying: refused, gone }: Undeleted,
  recreate: boolean,
): Promise<Pick<RejectedView, "records" | "recreated" | "gone" | "staying">> {
  const canCreate = mapping.upsertField !== null && pushes(mapping.syncDirection);
  const isAsked = recreate && canCreate && gone.length > 0;
  const created = isAsked ? await queries.captureAsNew(mapping.id, gone) : { done: 0, staying: [] };
  const reason = canCreate
    ? "the record is gone for good; it can be created again, with another id (recreate)"
    : "the record is gone for good, and without an upsert field and a direction to Salesforce it is not created again";
  const left = isAsked ? created.staying : gone.map((sfid) => staying(sfid, reason));
  return {
    records,
    recreated: created.done,
    gone: canCreate && !isAsked ? gone.length : 0,
    staying: [...refused, ...left].map(asView),
  };
}

const staying = (sfid: string, reason: string): StayingDelete => ({ deletes: "row", sfid, recordId: null, reason });

const asView = (one: StayingDelete) => toSnakeCase(stayingDelete, one);

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

function explain(error: unknown): never {
  if (!(error instanceof SalesforceRefusal)) throw error;
  throw new Failure("CONFLICT", `nothing more was undeleted: ${explainRefusal(error.refusal)}`);
}
