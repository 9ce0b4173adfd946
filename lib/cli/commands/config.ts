import { writeFileSync } from "node:fs";
import type { ExportConfigData, ImportConfigData, ReadDriftData, SaveBaselineData } from "bridge/api";
import { argument, type Context, isSet } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import { readText } from "../secret.ts";
import { escaped, harmless } from "../width.ts";
import { count, labelOf } from "../words.ts";

/** Writes the config document to a file or to standard output. */
export async function exportConfig({ api, out, args }: Context): Promise<void> {
  const { data } = await api().get<ExportConfigData>("/config/export");
  const document = escaped(`${JSON.stringify(data, null, 2)}\n`);
  const [file] = args;
  if (file === undefined || file === "-") return out.text(document);
  writeFileSync(file, document);
  out.done(`${count(data.mappings.length, "mapping is", "mappings are")} written to ${file}.`, {
    file,
    mappings: data.mappings.length,
  });
}

/** What an import would change, and nothing else. */
export const planConfig = (context: Context): Promise<void> => importDocument(context, true);

/** Makes the mappings what a document says, or shows what that would change. */
export const importConfig = (context: Context): Promise<void> => importDocument(context, isSet(context, "dryRun"));

async function importDocument(context: Context, dryRun: boolean): Promise<void> {
  const body = await readDocument(context);
  const { data } = await context
    .api()
    .post<ImportConfigData>("/config/import", { body, query: { dry_run: dryRun || null } });
  reportImport(context, data, dryRun);
}

/** The config document of a file, parsed. */
export async function readDocument(context: Context): Promise<unknown> {
  const file = argument(context, 0);
  try {
    return JSON.parse(await readText(context.terminal, file));
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw new CommandFailure("invalid", `${file} is not JSON: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
}

/** An import's result, and its plan when it was a dry run. */
export function reportImport({ out }: Context, result: ImportConfigData, dryRun: boolean): void {
  const { created, updated, skipped, changes = [], warnings = [] } = result;
  if (dryRun && !out.json) {
    for (const change of changes) out.done(planLines(change, out), null);
    for (const { path, message } of warnings) out.note(`Warning: ${harmless(path)} ${harmless(message)}`);
    if (changes.length === 0) out.note("Everything is as the document says already.");
  }
  if (dryRun && !out.json && result.calls) for (const line of callsText(result.calls)) out.note(line);
  const counts = `${created} created, ${updated} updated, ${skipped} as they were`;
  out.done(dryRun ? `An import would give: ${counts}. Nothing is changed yet.` : `Imported: ${counts}.`, result);
}

/** What an import costs of the org's calls, beside what Heroku Connect took of them. */
function callsText(calls: NonNullable<ImportConfigData["calls"]>): readonly string[] {
  const {
    calls_per_day: then,
    calls_per_day_now: now,
    calls_limit: limit,
    allowed_calls: allowed,
    pace_seconds: pace,
  } = calls;
  const part = limit === null ? "" : `, ${((100 * then) / limit).toFixed(1)} % of the org's ${limit}`;
  const share =
    pace === null || allowed === null
      ? "The org has not reported its limit yet, so how far apart pulls will be is not known."
      : `Bridge may make ${allowed}: ${pace <= 10 ? "pulls come as configured" : `pulls come at least ${pace} s apart`}.`;
  return [
    `API calls: ${then} a day while nothing changes (${now} now)${part}. ${share}`,
    "They count against the org's limit, as Heroku Connect's do not. What they cost with --when-quiet: bridge budget",
  ];
}

function planLines(change: NonNullable<ImportConfigData["changes"]>[number], out: Context["out"]): readonly string[] {
  const { action, object_name, pg_table, fields_added, fields_removed, settings_changed } = change;
  const value = (text: string | null) => (text === null ? "none" : harmless(text));
  const values = new Map(
    change.settings?.map(({ name, before, after }) => [name, `: ${value(before)} → ${value(after)}`]),
  );
  const lines = [
    ...fields_added.map((field) => out.paint("green", `  + ${field}`)),
    ...fields_removed.map((field) => out.paint("red", `  - ${field}`)),
    ...settings_changed.map((name) => out.paint("yellow", `  ~ ${name}${values.get(name) ?? ""}`)),
  ];
  return [`${action} ${out.paint("bold", object_name)} (${pg_table})`, ...lines];
}

/** Pins the configuration as it is. */
export async function saveBaseline({ api, out }: Context): Promise<void> {
  const { data } = await api().post<SaveBaselineData>("/config/baseline");
  out.done(`Baseline ${data.baseline_id} is the configuration of ${data.captured_at}.`, data);
}

/** Differences from the baseline. */
export async function readDrift({ api, out, endAs }: Context): Promise<void> {
  const { data } = await api()
    .get<ReadDriftData>("/config/drift")
    .catch((error: unknown) => {
      if (!(error instanceof CommandFailure) || error.code !== "BASELINE_NOT_FOUND") throw error;
      throw new CommandFailure(
        "notFound",
        "there is no baseline yet; pin the configuration with: bridge config baseline",
      );
    });
  if (out.json) out.record({ ...data });
  else {
    out.list(
      data.changes,
      [
        { name: "OBJECT", of: ({ sf_object }) => sf_object },
        { name: "CHANGE", of: ({ type }) => labelOf(type) },
        { name: "FIELD", of: ({ field }) => field },
      ],
      `As pinned: ${out.time(data.captured_at)}.`,
    );
  }
  if (data.drifted) endAs("unwell");
}
