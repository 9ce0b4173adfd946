import { setTimeout as pause } from "node:timers/promises";
import { argument, type Context, isSet, segment } from "../context.ts";
import { findMapping, type MappingState, NEEDS_SOMEBODY } from "../find.ts";
import { shortTime } from "../table.ts";

/** One mapping in full. */
interface MappingDetail extends MappingState {
  readonly fields: readonly string[];
  readonly progress: Progress | null;
}

interface Progress {
  readonly rows_done: number;
  readonly rows_total: number | null;
}

/** All mappings with what they do now. */
export async function listMappings(context: Context): Promise<void> {
  const deleted = isSet(context, "deleted");
  const { data } = await context
    .api()
    .get<readonly MappingState[]>("/monitoring/mappings", { deleted: deleted || null });
  const { out } = context;
  out.list(
    data,
    [
      { name: "OBJECT", of: ({ sf_object }) => sf_object },
      { name: "TABLE", of: ({ pg_table }) => pg_table },
      { name: "DIRECTION", of: ({ sync_direction }) => sync_direction, spare: true },
      { name: "STATE", of: ({ state }) => state, paint: (cell, { state }) => out.paint(colourOf(state), cell) },
      { name: "EVERY", of: ({ sf_polling_seconds }) => `${sf_polling_seconds} s`, right: true, spare: true },
      { name: "WAITING", of: ({ waiting }) => waiting, right: true },
      { name: "FAILED", of: ({ failed }) => failed, right: true },
      { name: "LAST RUN", of: ({ last_run_at }) => last_run_at, short: shortTime },
      { name: "ID", of: ({ id }) => id, whole: true, spare: true },
    ],
    deleted
      ? "No deleted mappings."
      : "No mappings yet. Make one with: bridge mapping create Contact --fields LastName,Email",
  );
}

/** One mapping; with `--wait` not before its tables are made and its first load is done. */
export async function showMapping(context: Context): Promise<void> {
  const api = context.api();
  const { id } = await findMapping(api, argument(context, 0));
  const read = () => api.get<MappingDetail>(`/mappings/${segment(id)}`);
  let answer = await read();
  while (isSet(context, "wait") && (answer.data.state === "provisioning" || answer.data.state === "loading")) {
    context.out.progress(progressText(answer.data));
    await pause(1000, undefined, { signal: context.terminal.interrupted });
    answer = await read();
  }
  context.out.progress("");
  context.out.record({ ...answer.data });
  if (NEEDS_SOMEBODY.has(answer.data.state)) context.endAs("unwell");
}

function colourOf(state: string): "green" | "yellow" | "red" | "dim" {
  if (state === "running") return "green";
  if (state === "broken" || state === "provisioning_failed") return "red";
  return state === "paused" || state === "deleted" ? "dim" : "yellow";
}

const BAR_CELLS = 24;

function progressText({ sf_object, state, progress }: MappingDetail): string {
  if (progress === null) return `${sf_object}: ${state} …`;
  const { rows_done, rows_total } = progress;
  if (rows_total === null || rows_total === 0) return `${sf_object}: ${rows_done} records …`;
  const filled = Math.min(BAR_CELLS, Math.floor((rows_done / rows_total) * BAR_CELLS));
  const bar = "█".repeat(filled) + "░".repeat(BAR_CELLS - filled);
  return `${sf_object} ${bar} ${rows_done} of ${rows_total} records`;
}
