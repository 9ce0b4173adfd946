import { type Context, isSet } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import { readDocument } from "./config.ts";
import { isReady, type Plan } from "./migration-plan.ts";
import { type Document, hasStuck, move, reportMove, showPlan } from "./move.ts";

/**
 * Moves a workspace here from Heroku Connect, by its export: checks both sides, shows the plan, asks, adopts the
 * schema, imports the mappings, and waits until each has its table. Interrupted anywhere, the same command continues.
 */
export async function migrateHerokuConnect(context: Context): Promise<void> {
  const document = documentOf(await readDocument(context));
  if (isSet(context, "rehearse")) return (await import("./rehearse.ts")).rehearse(context, document);
  if (isSet(context, "dryRun")) return endDryRun(context, await showPlan(context, document));
  const moved = await move(context, document, "Adopt these tables now? Heroku Connect must be paused, and stay so.");
  reportMove(context, moved);
  for (const line of hasStuck(moved) ? [] : TO_CHECK) context.out.note(line);
}

function documentOf(document: unknown): Document {
  if (isThing(document) && Array.isArray(document["mappings"])) return document as unknown as Document;
  throw new CommandFailure("invalid", "this is no Heroku Connect export: it has no list of mappings");
}

function isThing(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function endDryRun(context: Context, plan: Plan): void {
  if (context.out.json) context.out.record({ ...plan });
  context.out.note("Nothing was changed. Without --dry-run the same command carries this out.");
  if (!isReady(plan)) context.endAs("unwell");
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
