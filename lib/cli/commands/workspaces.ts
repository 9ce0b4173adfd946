import { dirname } from "node:path";
import { argument, type Context, isSet, text } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import type { Operator } from "../operator.ts";
import { instanceFile, localInstance, readProfiles, writeProfiles } from "../profiles.ts";

/** Makes a workspace and its first admin token, shown once: alone on standard output, so that it can be piped. */
export async function createWorkspace(context: Context): Promise<void> {
  const { out, terminal } = context;
  const owner = text(context, "owner") ?? "";
  const here = text(context, "stage") === null ? localInstance(terminal)?.url : undefined;
  const url = text(context, "url") ?? terminal.env["BRIDGE_URL"] ?? here ?? null;
  const isKept = isSet(context, "login");
  if (isKept && url === null)
    throw new CommandFailure("usage", "--login needs --url, the address that the token is for");
  const operator = await operatorOf(context);
  const { workspaceId, token } = await operator.createWorkspace({ name: argument(context, 0), owner });
  if (isKept && url !== null) {
    const { profiles } = readProfiles(terminal.env);
    writeProfiles(terminal.env, {
      current: workspaceId,
      profiles: { ...profiles, [workspaceId]: { url, workspaceId, token } },
    });
  }
  if (!out.json) out.note(`Workspace ${workspaceId}. Its first admin token is shown this once:`);
  out.done(token, { workspace_id: workspaceId, url, token });
}

interface Workspace {
  readonly id: string;
  readonly name: string;
}

/** The workspace in use: its name, and whether both sides are connected. */
export async function showWorkspace({ api, out }: Context): Promise<void> {
  const { data } = await api().get<Readonly<Record<string, unknown>>>("");
  out.record(data);
}

/** Gives the workspace in use another name. */
export async function renameWorkspace(context: Context): Promise<void> {
  const { data } = await context.api().patch<Workspace>("", { body: { name: argument(context, 0) } });
  context.out.done(`Workspace ${data.id} has the name "${data.name}" now.`, data);
}

/** Profiles of this user, or every workspace of a deployment. */
export async function listWorkspaces(context: Context): Promise<void> {
  return isSet(context, "all") ? listAll(context) : listProfiles(context);
}

async function listAll(context: Context): Promise<void> {
  const workspaces = await (await operatorOf(context)).listWorkspaces();
  context.out.list(
    workspaces,
    [
      { name: "ID", of: ({ id }) => id, whole: true },
      { name: "NAME", of: ({ name }) => name },
      { name: "MADE", of: ({ created_at }) => created_at },
    ],
    "No workspaces yet. Make one with: bridge workspace create NAME --owner you@example.com",
  );
}

async function listProfiles({ terminal, out }: Context): Promise<void> {
  const { current, profiles } = readProfiles(terminal.env);
  const local = localInstance(terminal);
  const rows = [
    ...Object.entries(profiles).map(([name, { url, workspaceId }]) => ({ name, url, workspace_id: workspaceId })),
    ...(local ? [{ name: "local", url: local.url, workspace_id: local.workspaceId }] : []),
  ].map((row) => ({ ...row, current: row.name === (current ?? "local") }));
  out.list(
    rows,
    [
      { name: "", of: ({ current: isCurrent }) => (isCurrent ? "*" : "") },
      { name: "PROFILE", of: ({ name }) => name },
      { name: "WORKSPACE", of: ({ workspace_id }) => workspace_id, whole: true },
      { name: "SERVICE", of: ({ url }) => url },
    ],
    "No profiles yet. Sign in with: bridge login URL --workspace ID",
  );
}

/** The deployment that `--stage` names, or the instance on this machine. */
export function operatorOf({ terminal, options, machine }: Context): Promise<Operator> {
  const stage = typeof options["stage"] === "string" ? options["stage"] : null;
  return machine.openOperator({ stage, dataDir: dirname(instanceFile(terminal.env, terminal.folder)) });
}
