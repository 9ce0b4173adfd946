import type { SwitchPauseData } from "bridge/api";
import { type Context, isSet, text } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import { harmless } from "../width.ts";
import { operatorOf } from "./workspaces.ts";

/** Stops the workspace in use, or the deployment. */
export const pause = (context: Context): Promise<void> => switchTo(context, true);

/** Resumes it. */
export const resume = (context: Context): Promise<void> => switchTo(context, false);

async function switchTo(context: Context, paused: boolean): Promise<void> {
  const reason = text(context, "reason");
  if (isSet(context, "deployment")) return switchDeployment(context, paused, reason);
  for (const option of ["stage", "by"])
    if (text(context, option) !== null) throw new CommandFailure("usage", `--${option} goes with --deployment`);
  const body = { paused, ...(reason !== null && { reason }) };
  const { data } = await context.api().put<SwitchPauseData>("/pause", { body });
  const { name, pause: is } = data;
  if (is === null)
    return context.out.done(`${harmless(name)} is resumed: the changes captured meanwhile are sent now.`, data);
  const also = paused ? " (now the workspace's own pause as well)" : "";
  const held = is.scope === "deployment" ? `The whole deployment${also}` : harmless(name);
  const remedy = is.scope === "deployment" ? "an operator ends that with: bridge resume --deployment" : END;
  context.out.done(`${held} is paused, ${said(is)}; ${remedy}`, data);
}

const END = "changes of rows are still captured. End it with: bridge resume";

const said = ({ since, by, reason }: Omit<NonNullable<SwitchPauseData["pause"]>, "scope">): string =>
  `since ${since} by ${harmless(by)}${reason === null ? "" : ` (${harmless(reason)})`}`;

async function switchDeployment(context: Context, paused: boolean, reason: string | null): Promise<void> {
  const actor = text(context, "by") ?? "system";
  const is = await (await operatorOf(context)).switchPause({ paused, actor, reason });
  const sentence = is.paused
    ? `Every workspace is paused, ${said({ ...is, since: is.at })}; ${END} --deployment`
    : "The deployment is resumed, but for workspaces with a pause of their own: bridge workspace list --all";
  context.out.done(`${sentence}. Webhooks receive it within a minute or two.`, is);
}

/** Makes a token for operators and shows it once: alone on standard output, so that it can be piped. */
export async function createOperatorToken(context: Context): Promise<void> {
  const { out } = context;
  const { workspaceId, token } = await (await operatorOf(context)).createToken(text(context, "owner") ?? "");
  if (!out.json) out.note(`Sign in to the workspace ${workspaceId} with it. It is shown this once:`);
  out.done(token, { workspace_id: workspaceId, token });
}
