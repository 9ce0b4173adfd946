import { dirname } from "node:path";
import type { ReadWorkspaceData, RenameWorkspaceData } from "bridge/api";
import { argument, type Context, isSet, text } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import type { OperatedWorkspace, Operator } from "../operator.ts";
import { instanceFile, localInstance, localUrl, readProfiles, writeProfiles } from "../profiles.ts";

/** Makes a workspace and its first admin token, shown once: alone on standard output, so that it can be piped. */
export async function createWorkspace(context: Context): Promise<void> {
  const { out, terminal } = context;
  const owner = text(context, "owner") ?? "";
  const here = text(context, "stage") === null ? localUrl(terminal) : null;
  const url = text(context, "url") ?? terminal.env["BRIDGE_URL"] ?? here;
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

/** The workspace in use: its name, and whether both sides are connected. */
export async function showWorkspace({ api, out }: Context): Promise<void> {
  const { data } = await api().get<ReadWorkspaceData>("");
  out.record({ ...data });
}

/** Gives the workspace in use another name. */
export async function renameWorkspace(context: Context): Promise<void> {
  const { data } = await context.api().patch<RenameWorkspaceData>("", { body: { name: argument(context, 0) } });
  context.out.done(`Workspace ${data.id} has the name "${data.name}" now.`, data);
}

/** Profiles of this user, or every workspace of a deployment. */
export async function listWorkspaces(context: Context): Promise<void> {
  return isSet(context, "all") ? listAll(context) : listProfiles(context);
}

async function listAll(context: Context): Promise<void> {
  const workspaces = await (await operatorOf(context)).listWorkspaces();
  const now = Date.now();
  context.out.list(
    workspaces,
    [
      { name: "ID", of: ({ id }) => id, whole: true },
      { name: "NAME", of: ({ name }) => name },
      { name: "STATE", of: stateOf, paint: (cell, row) => paintState(context, cell, stateOf(row)) },
      { name: "WAITING", of: ({ waiting }) => waiting, right: true },
      { name: "LAG", of: ({ oldest_waiting_at: oldest }) => (oldest === null ? null : age(oldest, now)), right: true },
      { name: "COUNTED", of: ({ counted_at: at }) => (at === null ? "never" : `${age(at, now)} ago`), spare: true },
      { name: "REFUSED", of: ({ rows_refused }) => rows_refused, right: true },
      {
        name: "CALLS IN 24 H",
        of: ({ calls_used, calls_limit }) => (calls_used === null ? null : `${calls_used} of ${calls_limit}`),
        right: true,
      },
      { name: "REPORTED", of: ({ calls_at: at }) => (at === null ? null : `${age(at, now)} ago`), spare: true },
      { name: "WHY", of: whyOf, spare: true },
    ],
    "No workspaces yet. Make one with: bridge workspace create NAME --owner you@example.com",
  );
}

function paintState({ out }: Context, cell: string, state: string): string {
  return out.paint(state === "running" ? "green" : state === "broken" ? "red" : "yellow", cell);
}

function stateOf({ connected, pause, broken }: OperatedWorkspace): string {
  if (pause !== null) return "paused";
  if (!connected) return "not connected";
  return broken.length > 0 ? "broken" : "running";
}

function whyOf({ pause, broken: [first] }: OperatedWorkspace): string | null {
  if (pause === null) return first?.reason ?? null;
  return `by ${pause.by}, ${pause.since}${pause.reason === null ? "" : `: ${pause.reason}`}`;
}

/** How long ago that was, as 40 s, 12 min, 3 h or 9 d. */
function age(at: string, now: number): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(at)) / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
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
