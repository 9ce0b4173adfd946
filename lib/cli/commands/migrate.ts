import { type Context, isSet } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import { confirm } from "../secret.ts";
import { readDocument, tellImport } from "./config.ts";

/**
 * Adopts the tables of a Heroku Connect export: the plan first, then the import with every mapping paused, so that
 * Heroku Connect can be stopped before the first change is captured here.
 */
export async function migrateHerokuConnect(context: Context): Promise<void> {
  const document = await readDocument(context);
  const api = context.api();
  const body = pausedDocument(document);
  const plan = await api.post<Parameters<typeof tellImport>[1]>("/config/import", { body, query: { dry_run: true } });
  tellImport(context, plan.data, true);
  if (isSet(context, "dryRun")) return tellSteps(context);

  const question = "Import these mappings, paused? Tables are adopted as they are; nothing is dropped or rewritten.";
  if (!isSet(context, "yes") && !(await confirm(context.terminal, question))) {
    throw new CommandFailure("usage", "not confirmed: say --yes to do it without questions");
  }
  const imported = await api.post<Parameters<typeof tellImport>[1]>("/config/import", { body });
  tellImport(context, imported.data, false);
  tellSteps(context);
}

function tellSteps({ out }: Context): void {
  for (const step of STEPS) out.note(step);
}

const STEPS = [
  "",
  "What is left to do:",
  "  1. heroku connect:pause              stop Heroku Connect; let its log run empty first",
  "  2. bridge doctor                     rights, tables and fields of both sides",
  "  3. bridge mapping activate OBJECT    for each mapping: capture begins, records are matched with your rows",
  "  4. bridge mapping show OBJECT --wait until its load is done",
  "  5. bridge mapping push-existing OBJECT, if rows without a record are to be sent",
  "  6. remove Heroku Connect",
];

/** The same document with every mapping paused. */
function pausedDocument(document: unknown): unknown {
  if (!isThing(document) || !Array.isArray(document["mappings"])) {
    throw new CommandFailure("invalid", "this is no Heroku Connect export: it has no list of mappings");
  }
  const mappings = document["mappings"].map((mapping: unknown) => {
    if (!isThing(mapping) || !isThing(mapping["config"])) return mapping;
    const { config } = mapping;
    const bridge = isThing(config["bridge"]) ? config["bridge"] : {};
    return { ...mapping, config: { ...config, bridge: { ...bridge, active: false } } };
  });
  return { version: document["version"], mappings };
}

function isThing(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
