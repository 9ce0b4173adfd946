import type { RejectDeletesData } from "bridge/api";
import { type Context, isSet, text } from "../../context.ts";
import { namedMapping } from "../../find.ts";
import { confirmUnlessYes } from "../../secret.ts";
import { count } from "../../words.ts";

/** Deletes whose reasons are printed; `--json` has all. */
const SHOWN = 20;

/** Takes held deletes back, after a question that says what cannot come back. */
export async function rejectDeletes(context: Context): Promise<void> {
  const { out } = context;
  const { api, path, id, sf_object, pg_table } = await namedMapping(context);
  const place = `${path}/reject-deletes`;
  const only = text(context, "only");
  if (!isSet(context, "yes")) {
    const { data } = await api.post<RejectDeletesData>(place, { query: { dry_run: true, only }, body: {} });
    if (data.rows + data.records + data.gone === 0) return out.done(`${sf_object} has no held deletes.`, data);
    out.note(forecast(data, sf_object, pg_table));
    await confirmUnlessYes(context, "Take these deletes back?");
  }
  const recreate = isSet(context, "recreate");
  const sum = { mapping_id: id, rows: 0, records: 0, recreated: 0, staying: [] as RejectDeletesData["staying"] };
  for (let after: string | null | undefined = null; after !== undefined; ) {
    const { data }: { readonly data: RejectDeletesData } = await api.post(place, {
      query: { only },
      body: { after, recreate },
    });
    for (const part of ["rows", "records", "recreated"] as const) sum[part] += data[part];
    sum.staying = [...sum.staying, ...data.staying];
    out.progress(count(sum.rows, "row", "rows"));
    after = data.next ?? undefined;
  }
  out.progress("");
  for (const one of out.json ? [] : sum.staying.slice(0, SHOWN)) {
    out.note(`${one.deletes === "record" ? `row ${one.record_id}` : one.sfid} stays held: ${one.reason}`);
  }
  out.done(summary(sum, sf_object), sum);
  if (sum.staying.length > 0) context.endAs("unwell");
}

function forecast(
  { rows, records, gone, lost_columns, lost_children }: RejectDeletesData,
  object: string,
  table: string,
): string {
  const lost = rows > 0 && lost_columns.length > 0 ? ` Not mapped, so empty: ${lost_columns.join(", ")}.` : "";
  const children = rows > 0 && lost_children.length > 0 ? ` Not restored: rows of ${lost_children.join(", ")}.` : "";
  const ended =
    gone > 0 ? ` ${count(gone, "record is", "records are")} gone for good; --recreate sends the rows as new.` : "";
  const again = count(rows, "row", "rows");
  return `This inserts ${again} of ${table} again and undeletes ${count(records, "record", "records")} of ${object}.${lost}${children}${ended}`;
}

function summary(
  { rows, records, recreated, staying }: Pick<RejectDeletesData, "rows" | "records" | "recreated" | "staying">,
  object: string,
): string {
  const done = [
    `inserted ${count(rows, "row", "rows")} again`,
    ...(records > 0 ? [`the next cycles undelete ${count(records, "record", "records")}`] : []),
    ...(recreated > 0 ? [`sends ${count(recreated, "row", "rows")} as new`] : []),
    ...(staying.length > 0 ? [`still holds ${count(staying.length, "delete", "deletes")}`] : []),
  ];
  return `${object}: ${done.join(", ")}.`;
}
