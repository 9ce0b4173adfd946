import type { ReadRowStoryData } from "bridge/api";
import { argument, type Context, isSet, segment } from "../../context.ts";
import { namedMapping } from "../../find.ts";
import { harmless } from "../../width.ts";
import { shortTime } from "../../words.ts";
import { correctRow } from "./correct-row.ts";
import { deletedLines, restoreRow } from "./restore-row.ts";

/** What happened to one row on both sides, oldest first, and what each holds now. */
export async function row(context: Context): Promise<void> {
  const { out } = context;
  if (context.options["set"] !== undefined) return correctRow(context);
  if (isSet(context, "restore")) return restoreRow(context);
  const { api, pg_table } = await namedMapping(context);
  const { data } = await api.get<ReadRowStoryData>(`/rows/${segment(pg_table)}/${segment(argument(context, 1))}/story`);
  if (out.json) return out.done("", data);
  out.note(
    `${pg_table} ${data.record_id ?? "without a row"}, record ${data.sfid ?? "none yet"}${data.salesforce_url ? `: ${data.salesforce_url}` : ""}`,
  );
  out.list(
    data.values,
    [
      { name: "COLUMN", of: ({ column }) => column },
      { name: "POSTGRESQL", of: ({ postgres }) => postgres },
      { name: "SALESFORCE", of: ({ salesforce }) => salesforce },
      {
        name: "",
        of: ({ equal }) => (equal === false ? "differs" : ""),
        paint: (cell) => out.paint("yellow", cell),
      },
    ],
    "no mapped columns",
  );
  out.list(
    data.events.toReversed(),
    [
      { name: "AT", of: ({ at }) => at, short: shortTime },
      { name: "FROM", of: ({ from }) => from },
      {
        name: "WHAT",
        of: ({ text }) => text,
        paint: (cell, { state }) => (state === "FAILED" ? out.paint("red", cell) : cell),
      },
      { name: "BY", of: ({ by }) => by, spare: true },
    ],
    "nothing is known of its past",
  );
  if (data.waits !== null) out.done(harmless(data.waits), null);
  if (data.salesforce_error !== null) out.note(`Salesforce could not be asked: ${data.salesforce_error}`);
  for (const line of deletedLines(data)) out.note(line);
  for (const { column, rule } of data.refused?.columns ?? []) out.note(`${column} takes ${rule}.`);
  if (data.remedy !== null) return out.note(`To send it, run: ${data.remedy}`);
  const set = data.refused?.columns.slice(0, 5).map(({ column }) => `--set ${column}=…`);
  if (set?.length) out.note(`To correct it, run: bridge row ${data.sf_object} ${data.record_id} ${set.join(" ")}`);
}
