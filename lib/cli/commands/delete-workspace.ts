import { argument, type Context, isSet, text } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import type { ClearedDatabase, Operator } from "../operator.ts";
import { typesWord } from "../secret.ts";
import { operatorOf } from "./workspaces.ts";

/** Removes a workspace and what Bridge put into its database, after its name was typed. */
export async function deleteWorkspace(context: Context): Promise<void> {
  const operator = await operatorOf(context);
  const workspaceId = argument(context, 0);
  const before = await operator.describeRemoval(workspaceId);
  if (before.isGone) {
    return context.out.done(`${before.name} (${workspaceId}) is gone already.`, {
      workspace_id: workspaceId,
      cleared: null,
    });
  }
  if (!isSet(context, "yes")) await askForName(context, before);
  const { name, cleared } = await operator.removeWorkspace({
    workspaceId,
    actor: text(context, "by") ?? "system",
    leaveDatabase: isSet(context, "leaveDatabase"),
  });
  context.out.done(`${name} (${workspaceId}) is gone. ${sentence(cleared)}`, { workspace_id: workspaceId, cleared });
}

type Removal = Awaited<ReturnType<Operator["describeRemoval"]>>;

async function askForName({ terminal, out, args }: Context, removal: Removal): Promise<void> {
  const { name, mappings, webhooks, tokens, waiting } = removal;
  out.note(`${name} (${args[0]}) has ${mappings} mappings, ${webhooks} webhooks and ${tokens} tokens.`);
  out.note("They go for good, with Bridge's triggers and metadata tables. Your tables and their rows stay.");
  if (waiting === null) out.note("Its database does not say how many changes still wait.");
  else if (waiting > 0) out.note(`${waiting} changes were not sent to Salesforce yet, and will never be.`);
  if (await typesWord(terminal, `Type its name to remove it (${name}): `, name)) return;
  throw new CommandFailure(
    "usage",
    "not confirmed: type the workspace's name, or say --yes to do it without a question",
  );
}

function sentence(cleared: ClearedDatabase | null): string {
  if (cleared === null) return "Its database was left as it is.";
  const { schema, triggers, functions, tables, kept } = cleared;
  if (tables.length === 0) return `In the schema ${schema} there was nothing of Bridge's.`;
  const went = `Out of the schema ${schema} went ${triggers.length} triggers, ${functions.length} functions and ${tables.length} metadata tables.`;
  if (kept.length === 0) return went;
  return `${went} Changes that were not sent, and the way back to Heroku Connect, stay: ${kept.join(", ")}, _hc_trigger_log.`;
}
