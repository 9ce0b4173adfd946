import type { RejectDeletesData } from "bridge/api";
import { type Context, isSet, text } from "../../context.ts";
import { namedMapping } from "../../find.ts";
import { confirm, confirmUnlessYes } from "../../secret.ts";
import { count } from "../../words.ts";

/** What all calls of one command have come to. */
interface Sum {
  readonly mapping_id: string;
  rows: number;
  records: number;
  recreated: number;
  gone: number;
  staying: RejectDeletesData["staying"];
}

/** Deletes whose reasons are printed; `--json` has all. */
const SHOWN = 20;

/** Takes held deletes back, after a question that says what cannot come back. */
export async function rejectDeletes(context: Context): Promise<void> {
  const { out, terminal } = context;
  const { api, path, id, sf_object, pg_table } = await namedMapping(context);
  const place = `${path}/reject-deletes`;
  const only = text(context, "only");
  if (!isSet(context, "yes")) {
    const { data } = await api.post<RejectDeletesData>(place, { query: { dry_run: true, only }, body: {} });
    if (data.rows + data.records === 0) return out.done(`${sf_object} has no held deletes.`, data);
    out.note(forecast(data, sf_object, pg_table));
    await confirmUnlessYes(context, "Take these deletes back?");
  }
  const sum: Sum = { mapping_id: id, rows: 0, records: 0, recreated: 0, gone: 0, staying: [] };
  const goThrough = async (from: string | null, recreate: boolean): Promise<void> => {
    for (let after = from; ; ) {
      const { data } = await api.post<RejectDeletesData>(place, { query: { only }, body: { after, recreate } });
      for (const part of ["rows", "records", "recreated", "gone"] as const) sum[part] += data[part];
      sum.staying = [...sum.staying, ...data.staying];
      out.progress(count(sum.rows + sum.records + sum.recreated, "delete", "deletes"));
      if (data.next === null) return;
      after = data.next;
    }
  };
  await goThrough(null, isSet(context, "recreate"));
  out.progress("");
  const question = `${count(sum.gone, "record is", "records are")} gone for good. Create them again, with other ids?`;
  if (sum.gone > 0 && !isSet(context, "yes") && (await confirm(terminal, question))) {
    Object.assign(sum, { gone: 0, staying: sum.staying.filter(({ deletes }) => deletes === "record") });
    await goThrough("record:", true);
  }
  for (const one of out.json ? [] : sum.staying.slice(0, SHOWN)) {
    out.note(`${one.deletes === "record" ? `row ${one.record_id}` : one.sfid} stays held: ${one.reason}`);
  }
  out.done(summary(sum, sf_object), sum);
  if (sum.staying.length > 0) context.endAs("unwell");
}

function forecast(
  { rows, records, lost_columns, lost_children }: RejectDeletesData,
  object: string,
  table: string,
): string {
  const lost = rows > 0 && lost_columns.length > 0 ? ` Not mapped, so empty: ${lost_columns.join(", ")}.` : "";
  const children = rows > 0 && lost_children.length > 0 ? ` Not restored: rows of ${lost_children.join(", ")}.` : "";
  const again = count(rows, "row", "rows");
  return `This inserts ${again} of ${table} again and undeletes ${count(records, "record", "records")} of ${object}.${lost}${children}`;
}

function summary({ rows, records, recreated, staying }: Sum, object: string): string {
  const done = [
    `inserted ${count(rows, "row", "rows")} again`,
    `undeleted ${count(records, "record", "records")}`,
    ...(recreated > 0 ? [`sends ${count(recreated, "row", "rows")} as new`] : []),
    ...(staying.length > 0 ? [`still holds ${count(staying.length, "delete", "deletes")}`] : []),
  ];
  return `${object}: ${done.join(", ")}.`;
}
