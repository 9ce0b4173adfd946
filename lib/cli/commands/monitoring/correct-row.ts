import { setTimeout as pause } from "node:timers/promises";
import type { NudgeData, ReadChangeData, ReadRowStoryData, WriteRowBody, WriteRowData } from "bridge/api";
import type { Api } from "../../api.ts";
import { argument, type Context, segment } from "../../context.ts";
import { CommandFailure } from "../../failure.ts";
import { namedMapping } from "../../find.ts";

/** How long it follows a change to its end, which one cycle brings. */
const FOLLOW_SECONDS = 60;

/** Writes values into a row, unless they have changed meanwhile, and waits for what Salesforce says of them. */
export async function correctRow(context: Context): Promise<void> {
  const { out } = context;
  const values = valuesOf(context);
  const { api, pg_table, sf_object } = await namedMapping(context);
  const key = argument(context, 1);
  const { data: story } = await api.get<ReadRowStoryData>(`/rows/${segment(pg_table)}/${segment(key)}/story`);
  if (story.record_id === null || story.row === "absent")
    throw new CommandFailure("notFound", `${pg_table} has no row "${key}" now: see bridge row ${sf_object} ${key}`);
  const shown = story.values.flatMap(({ column, postgres }) => (column in values ? [[column, postgres]] : []));
  const body: WriteRowBody = { values, was: Object.fromEntries(shown) };
  const path = `/rows/${segment(pg_table)}/${story.record_id}`;
  const { data: written } = await api.patch<WriteRowData>(path, { body });
  out.progress(`${pg_table} ${story.record_id}: written, waiting for Salesforce …`);
  const change = await endOf(api, written.change_id, pg_table);
  out.progress("");
  const row = `${pg_table} ${story.record_id}`;
  if (change.state === "SUCCESS") return out.done(`${row} is written, and Salesforce took it.`, { ...written, change });
  const why =
    change.state === "FAILED"
      ? `Salesforce refused it: ${change._ab_err}`
      : `it waits${change._ab_err ? `: ${change._ab_err}` : ""}. Why, says: bridge row ${sf_object} ${story.record_id}`;
  out.done(`${row} is written; ${why}`, { ...written, change });
  context.endAs("unwell");
}

function valuesOf({ options }: Context): Record<string, string | null> {
  const given = options["set"] as readonly string[];
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf("=");
      if (at < 1) throw new CommandFailure("usage", `--set takes column=value, not "${text}"; column= is NULL`);
      return [text.slice(0, at), text.slice(at + 1) || null];
    }),
  );
}

/** The change once it has ended, or as it is when the time is over. */
async function endOf(api: Api, id: number, table: string): Promise<ReadChangeData> {
  // Else the next beat sends it; a mapping that is paused has no cycle to wake.
  await api.post<NudgeData>("/nudge", { query: { table } }).catch(() => undefined);
  for (let second = 0; ; second += 1) {
    const { data } = await api.get<ReadChangeData>(`/monitoring/activity/${id}`);
    if (data.synced_at !== null || second >= FOLLOW_SECONDS) return data;
    await pause(1000);
  }
}
