import { type Context, isSet, text } from "../../context.ts";
import type { FormerSecrets } from "../../operator.ts";
import { confirmUnlessYes } from "../../secret.ts";
import { count } from "../../words.ts";
import { operatorOf } from "../workspaces.ts";

/** Begins a rotation of the pepper, or ends the former one after a list of what ends with it. */
export async function rotatePepper(context: Context): Promise<void> {
  const { out } = context;
  const operator = await operatorOf(context);
  const actor = text(context, "by") ?? "system";
  if (isSet(context, "finish")) return finish(context, actor);
  const rotated = await operator.rotatePepper(actor);
  out.done(
    [
      `A new pepper is used from ${rotated.used_from} on. Tokens keep working, and move to it as they are used.`,
      "Doorbells get another URL: bridge doorbell says in each workspace how the org gets it.",
      "Then end the former pepper: bridge operator rotate-pepper --finish",
    ],
    rotated,
  );
}

async function finish(context: Context, actor: string): Promise<void> {
  const { out } = context;
  const operator = await operatorOf(context);
  const former = await operator.findFormer();
  for (const line of linesOf(former)) out.note(line);
  const { tokens, doorbells } = former;
  const ending = `${count(tokens.length, "token", "tokens")} and ${count(doorbells.length, "doorbell", "doorbells")}`;
  await confirmUnlessYes(context, `End the former pepper? ${ending} end with it.`);
  const ended = await operator.endFormer(actor);
  const revoked = count(ended.tokens_revoked, "token was", "tokens were");
  out.done(`The former pepper is deleted; ${revoked} revoked.`, { ...former, ...ended });
}

function linesOf({ tokens, doorbells }: FormerSecrets): readonly string[] {
  return [
    ...tokens.map(
      ({ id, name, owner, workspace_id: workspace, last_used_at: at }) =>
        `Token ${name} (${id}) of ${owner} in ${workspace} ends; ${at === null ? "it was never used" : `last used ${at}`}`,
    ),
    ...doorbells.map(
      ({ workspace_id: workspace, created_at: at }) =>
        `The doorbell of ${workspace} ends, whose URL is of ${at}; a new one: bridge doorbell --prepare FOLDER --user USERNAME`,
    ),
  ];
}

/** Seals every stored secret again; what cannot be is listed, and the exit code is 10. */
export async function reseal(context: Context): Promise<void> {
  const { out } = context;
  const done = await (await operatorOf(context)).reseal({
    actor: text(context, "by") ?? "system",
    onProgress: (resealed) => out.progress(`${resealed} values`),
  });
  out.progress("");
  const { resealed, remaining } = done;
  for (const { workspace_id: workspace, kind, reason } of remaining) out.note(`${workspace}: ${kind}: ${reason}`);
  if (remaining.length > 0) context.endAs("unwell");
  const values = count(resealed, "value was", "values were");
  out.done(`${values} sealed again; ${remaining.length} could not be.`, done);
  out.note("Functions use a data key for five minutes: after a change of the KMS key, repeat this when they are over.");
}
