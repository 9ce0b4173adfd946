import { setTimeout as pause } from "node:timers/promises";
import type { PollNowData, ReadRowStoryData, RestoreRowData } from "bridge/api";
import { argument, type Context, segment } from "../../context.ts";
import { namedMapping } from "../../find.ts";
import { shortTime } from "../../words.ts";

/** Looks, each of which costs the org a call, and seconds between them. */
const LOOKS = 20;
const PAUSE_SECONDS = 3;

/** Brings a row back that was deleted on either side, and waits until it is there. */
export async function restoreRow(context: Context): Promise<void> {
  const { out } = context;
  const { api, path: mapping, pg_table, sf_object } = await namedMapping(context);
  const key = argument(context, 1);
  const path = `/rows/${segment(pg_table)}/${segment(key)}`;
  const { data: asked } = await api.post<RestoreRowData>(`${path}/restore`);
  if (asked.restored === "now")
    return out.done(`The row of ${pg_table} is back; its delete is not sent.`, { ...asked, row: "present" });
  // Else the next beat does it; a mapping that is paused has no cycle.
  await api.post<PollNowData>(`${mapping}/poll-now`).catch(() => undefined);
  out.progress(`${pg_table} ${key}: asked for, waiting for the next cycle …`);
  for (let look = 1; ; look += 1) {
    const { data: story } = await api.get<ReadRowStoryData>(`${path}/story`);
    out.progress("");
    if (story.row === "present" && story.restore === null)
      return out.done(`${pg_table} ${story.record_id} is back, and its record ${story.sfid}.`, {
        ...asked,
        row: "present",
      });
    if (look === LOOKS || story.restore?.can === true) {
      out.done(`It is asked for, and not back yet. Why, says: bridge row ${sf_object} ${key}`, {
        ...asked,
        row: story.row,
      });
      return context.endAs("unwell");
    }
    await pause(PAUSE_SECONDS * 1000);
  }
}

/** `Deleted in Salesforce by Ada 11-27 06:07:32, in the recycle bin until …`, and what to do. */
export function deletedLines({ restore, sf_object, sfid, record_id }: ReadRowStoryData): readonly string[] {
  if (restore === null) return [];
  const { deleted_in, deleted_by, deleted_at, until, why } = restore;
  const where = deleted_in === "postgres" ? "PostgreSQL" : "Salesforce";
  const by = deleted_by === null ? "" : ` by ${deleted_by}`;
  const at = deleted_at === null ? "" : ` at ${shortTime(deleted_at)}`;
  const bin = until === null ? "" : `, in the recycle bin until ${shortTime(until)}`;
  const then =
    why === null
      ? `To bring it back, run: bridge row ${sf_object} ${sfid ?? record_id} --restore`
      : `It cannot be restored: ${why}`;
  return [`Deleted in ${where}${by}${at}${bin}.`, then];
}
