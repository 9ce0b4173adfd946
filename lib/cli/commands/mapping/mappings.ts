import { setTimeout as pause } from "node:timers/promises";
import type { ListMappingStatesData, ReadDryRunData, ReadMappingData, StartDryRunData } from "bridge/api";
import { type Context, isSet } from "../../context.ts";
import { NEEDS_SOMEBODY, namedMapping } from "../../find.ts";
import { count, shortTime } from "../../words.ts";

/** All mappings with what they do now. */
export async function listMappings(context: Context): Promise<void> {
  const deleted = isSet(context, "deleted");
  const { data } = await context.api().get<ListMappingStatesData>("/monitoring/mappings", { deleted: deleted || null });
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

/** One mapping; with `--wait` not before its tables exist, and its first load or its reload is done. */
export async function showMapping(context: Context): Promise<void> {
  const { api, path } = await namedMapping(context);
  const read = () => api.get<ReadMappingData>(path);
  let answer = await read();
  while (isSet(context, "wait") && isAwaited(answer.data)) {
    context.out.progress(progressText(answer.data));
    await pause(1000, undefined, { signal: context.terminal.interrupted });
    answer = await read();
  }
  context.out.progress("");
  context.out.record({ ...answer.data }, GROUPS);
  if (NEEDS_SOMEBODY.has(answer.data.state)) context.endAs("unwell");
}

/** What a mapping is and does comes first. */
const GROUPS = {
  Settings: [
    ...["sync_direction", "fields", "filter", "upsert_field", "conflict_policy", "capture", "delete_limit"],
    ...["sf_polling_seconds", "when_quiet_seconds", "sf_notify_enabled", "sweep_days", "check_before_save"],
    ...["batch_size", "keep_history"],
  ],
  Rows: [
    ...["rows_synced", "waiting", "oldest_waiting_at", "failed", "inbound_errors", "held_deletes", "sent_deletes"],
    ...["compared", "progress"],
  ],
  "Cycles and calls": ["last_run_at", "last_pull_at", "lag_seconds", "api_calls", "calls_per_day"],
  Versions: ["version", "created_at", "updated_at", "deleted_at"],
};

const isAwaited = ({ state, progress }: ReadMappingData): boolean =>
  state === "provisioning" || state === "loading" || progress?.reading === "backfill";

function colourOf(state: string): "green" | "yellow" | "red" | "dim" {
  if (state === "running") return "green";
  if (state === "broken" || state === "provisioning_failed") return "red";
  return state === "paused" || state === "deleted" ? "dim" : "yellow";
}

const BAR_CELLS = 24;

function progressText({ sf_object, state, progress }: ReadMappingData): string {
  if (progress === null) return `${sf_object}: ${state} …`;
  const { rows_done, rows_total, ends_at } = progress;
  if (rows_total === null || rows_total === 0) return `${sf_object}: ${rows_done} records …`;
  const end = ends_at === null ? "" : `, done about ${shortTime(ends_at)}`;
  const filled = Math.min(BAR_CELLS, Math.floor((rows_done / rows_total) * BAR_CELLS));
  const bar = "█".repeat(filled) + "░".repeat(BAR_CELLS - filled);
  return `${sf_object} ${bar} ${rows_done} of ${rows_total} records${end}`;
}

/** Compares rows and records that have not met, and waits for the result. */
export async function dryRun(context: Context): Promise<void> {
  const { out, terminal } = context;
  const { api, path, sf_object, conflict_policy } = await namedMapping(context);
  let { data } = await api.post<StartDryRunData>(`${path}/dry-run`);
  while (data.state === "running") {
    out.progress(`${data.read} of ${data.records ?? "?"} records`);
    await pause(1000, undefined, { signal: terminal.interrupted });
    ({ data } = await api.get<ReadDryRunData>(`${path}/dry-run`));
  }
  out.progress("");
  if (data.state !== "done") {
    out.done(`The comparison of ${sf_object} has stopped: ${data.error}`, data);
    context.endAs("unwell");
    return;
  }
  const samples = data.samples.flatMap(({ sfid, differences }) => differences.map((one) => ({ sfid, ...one })));
  if (!out.json && samples.length > 0) {
    for (const { field, rows } of data.fields) out.note(`${field} differs in ${count(rows, "row", "rows")}`);
    out.list(
      samples,
      [
        { name: "RECORD", of: ({ sfid }) => sfid, whole: true },
        { name: "FIELD", of: ({ field }) => field },
        { name: "POSTGRES", of: ({ postgres }) => postgres },
        { name: "SALESFORCE", of: ({ salesforce }) => salesforce },
        { name: "WINS", of: ({ winner, refused }) => (refused ? `none: ${refused}` : winner), spare: true },
      ],
      "",
    );
  }
  out.done(summary(data, sf_object, conflict_policy), data);
}

function summary(run: ReadDryRunData, object: string, policy: string): string {
  const matched = `${count(run.matched, "row has", "rows have")} a record of ${object} with the same key, ${run.differing} of them with other values.`;
  const changed = `With ${policy} the first load changes ${count(run.records_changed, "record", "records")} in Salesforce and ${count(run.rows_changed, "row", "rows")} in PostgreSQL.`;
  const refused = run.records_refused
    ? ` ${count(run.records_refused, "record", "records")} will not become rows, because a column cannot hold a value.`
    : "";
  return `${matched} ${changed}${refused} Continue with: bridge mapping activate ${object} --digest ${run.digest}`;
}
