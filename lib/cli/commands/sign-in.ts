import type { ReadOwnTokenData } from "bridge/api";
import { Api } from "../api.ts";
import { type Context, text } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import { LOCAL, profilesFile, readProfiles, writeProfiles } from "../profiles.ts";
import { readSecret } from "../secret.ts";

/** Keeps an instance, a workspace and a token, after checking that the three open something. */
export async function login(context: Context): Promise<void> {
  const { terminal, out } = context;
  const url = context.args[0] ?? text(context, "url") ?? terminal.env["BRIDGE_URL"];
  const workspaceId = text(context, "workspace") ?? terminal.env["BRIDGE_WORKSPACE"];
  if (url === undefined || !URL.canParse(url)) {
    throw new CommandFailure("usage", "name the service's address: bridge login https://… --workspace ID");
  }
  if (workspaceId === undefined) throw new CommandFailure("usage", "name the workspace: --workspace ID");
  const name = text(context, "name") ?? workspaceId;
  if (name === LOCAL) throw new CommandFailure("usage", `${LOCAL} always means the instance on this machine`);
  const token = terminal.env["BRIDGE_TOKEN"] ?? (await readSecret(terminal, "API token", text(context, "tokenFile")));

  const target = { url: url.replace(/(?<!\/)\/+$/, ""), workspaceId, token };
  const { data } = await new Api(target, terminal.interrupted).get<ReadOwnTokenData>("/tokens/current");
  const { profiles } = readProfiles(terminal.env);
  writeProfiles(terminal.env, { current: name, profiles: { ...profiles, [name]: target } });
  out.done(
    `Signed in to ${target.url}, workspace ${workspaceId}, as ${data.owner} (${data.scopes.join(", ")}). ` +
      `Kept as profile ${name} in ${profilesFile(terminal.env)}.`,
    { profile: name, url: target.url, workspace_id: workspaceId, token: data },
  );
}

/** Forgets a profile. */
export async function logout({ terminal, out, args }: Context): Promise<void> {
  const { current, profiles } = readProfiles(terminal.env);
  const name = args[0] ?? current;
  if (name === null || name === undefined || !profiles[name]) {
    throw new CommandFailure("notFound", name ? `there is no profile ${name}` : "no profile is in use");
  }
  const { [name]: forgotten, ...others } = profiles;
  writeProfiles(terminal.env, { current: current === name ? null : current, profiles: others });
  out.done(`Profile ${name} (${forgotten?.url}) is forgotten. Its token stays valid until it is revoked.`, {
    forgotten: name,
  });
}

/** Whom the commands speak to, and as whom. */
export async function whoami(context: Context): Promise<void> {
  const { url, workspaceId, because } = context.target();
  const { data } = await context.api().get<ReadOwnTokenData>("/tokens/current");
  context.out.record({ url, workspace_id: workspaceId, chosen_by: because, token: data });
}
