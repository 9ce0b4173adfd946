import { setTimeout as pause } from "node:timers/promises";
import type { ImportConfigData, ListMappingStatesData } from "bridge/api";
import { type Context, isSet } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import { type MappingState, NEEDS_SOMEBODY } from "../find.ts";
import { confirm } from "../secret.ts";
import { readDocument } from "./config.ts";
import { gatherPlan, isReady, type Plan, readAdoption, reportPlan } from "./migration-plan.ts";

/**
 * Moves a workspace here from Heroku Connect, by its export: checks both sides, shows the plan, asks, adopts the
 * schema, imports the mappings, and waits until each has its table. Interrupted anywhere, the same command continues.
 */
export async function migrateHerokuConnect(context: Context): Promise<void> {
  const document = await readDocument(context);
  const objects = objectsOf(document);
  const plan = await gatherPlan(context, document);
  if (!context.out.json) reportPlan(context, plan);
  if (isSet(context, "dryRun")) return endDryRun(context, plan);
  if (!isReady(plan)) throw new CommandFailure("conflict", "nothing was changed: correct what is marked ✗ above first");

  const question = "Adopt these tables now? Heroku Connect must be paused, and stay so.";
  if (!isSet(context, "yes") && !(await confirm(context.terminal, question))) {
    throw new CommandFailure("usage", "not confirmed: say --yes to do it without questions");
  }
  const api = context.api();
  await api.post("/connections/postgres/adopt-heroku-connect");
  context.out.note("The schema is adopted: Heroku Connect's log is now called _hc_trigger_log.");
  const { data: imported } = await api.post<ImportConfigData>("/config/import", { body: document });
  context.out.note(`The mappings are imported: ${countsOf(imported)}.`);
  const mappings = await untilSettled(context, objects);
  reportEnd(context, plan, imported, mappings);
  await reportLeft(context);
}

/** Tables that no mapping names: their changes pile up in a log that is not sent. */
async function reportLeft(context: Context): Promise<void> {
  const left = (await readAdoption(context)).tables.map(({ table }) => table);
  if (left.length === 0) return;
  context.out.note(
    `Heroku Connect's triggers still capture ${left.join(", ")}, into _hc_trigger_log: add mappings for them, or drop the triggers.`,
  );
}

const countsOf = ({ created, updated, skipped }: ImportConfigData) =>
  `${created} created, ${updated} updated, ${skipped} as they were`;

/** The objects that a document names. */
function objectsOf(document: unknown): ReadonlySet<string> {
  const mappings = isThing(document) ? document["mappings"] : null;
  if (!Array.isArray(mappings)) {
    throw new CommandFailure("invalid", "this is no Heroku Connect export: it has no list of mappings");
  }
  return new Set(mappings.flatMap((one: unknown) => (isThing(one) ? [String(one["object_name"]).toLowerCase()] : [])));
}

function isThing(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function endDryRun(context: Context, plan: Plan): void {
  if (context.out.json) context.out.record({ ...plan });
  context.out.note("Nothing was changed. Without --dry-run the same command carries this out.");
  if (!isReady(plan)) context.endAs("unwell");
}

async function mappingsOf(context: Context, objects: ReadonlySet<string>): Promise<readonly MappingState[]> {
  const { data } = await context.api().get<ListMappingStatesData>("/monitoring/mappings");
  return data.filter(({ sf_object }) => objects.has(sf_object.toLowerCase()));
}

/** States that a mapping leaves automatically. */
const ON_THEIR_WAY = new Set(["provisioning", "loading", "unknown"]);

async function untilSettled(context: Context, objects: ReadonlySet<string>): Promise<readonly MappingState[]> {
  for (;;) {
    const ours = await mappingsOf(context, objects);
    const open = ours.filter(({ state }) => ON_THEIR_WAY.has(state));
    context.out.progress(open.length === 0 ? "" : progressText(ours, open));
    if (open.length === 0) return ours;
    await pause(1000, undefined, { signal: context.terminal.interrupted });
  }
}

const progressText = (all: readonly MappingState[], open: readonly MappingState[]) =>
  `${all.length - open.length} of ${all.length} mappings are ready; ${open.map(({ sf_object, state }) => `${sf_object} is ${state}`).join(", ")}`;

function reportEnd(context: Context, plan: Plan, imported: ImportConfigData, mappings: readonly MappingState[]): void {
  const { out } = context;
  if (out.json) out.record({ ...plan, imported, mappings });
  else {
    out.list(
      mappings,
      [
        { name: "OBJECT", of: ({ sf_object }) => sf_object },
        { name: "TABLE", of: ({ pg_table }) => pg_table },
        { name: "STATE", of: ({ state }) => state },
        { name: "WAITING", of: ({ waiting }) => waiting, right: true },
        { name: "FAILED", of: ({ failed }) => failed, right: true },
        { name: "REASON", of: ({ reason }) => reason },
      ],
      "The export names no mapping.",
    );
  }
  const stuck = mappings.filter(({ state }) => NEEDS_SOMEBODY.has(state));
  for (const { sf_object, reason } of stuck) {
    out.note(
      `${sf_object} is not adopted: ${reason ?? "see bridge mapping show"}. Correct that, then run this command again.`,
    );
  }
  if (stuck.length > 0) context.endAs("unwell");
  else for (const line of TO_CHECK) out.note(line);
}

const TO_CHECK = [
  "",
  "What to check now:",
  "  bridge doctor                       both sides, rights and triggers",
  "  bridge activity                     the changes that were taken over, and their results",
  "  bridge errors                       what Heroku Connect could not send; bridge errors --retry sends it again",
  "  bridge mapping show OBJECT          when it last read Salesforce, how long a change takes",
  "  bridge mapping push-existing OBJECT sends rows that never had a record, if there are any",
  "Keep Heroku Connect paused until you are content, then remove it: resumed, it would write beside Bridge.",
];
