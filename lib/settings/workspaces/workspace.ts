import * as z from "zod/mini";
import type { Acting, SealedWorkspace, Workspaces } from "../../access/ports.ts";
import { Failure } from "../../model/failure.ts";
import { toSnakeCase } from "../../model/snake-case.ts";
import { auditEntry } from "../../model/workspace/audit.ts";
import type { Pause } from "../../model/workspace/pause.ts";
import { body, line, timestamp } from "../shapes.ts";

/** The longest name of a workspace, in characters. */
const LONGEST_NAME = 100;

/** A workspace as the settings area shows it. */
export const workspaceView = z.object({
  id: z.string(),
  name: z.string(),
  connected: z.boolean(),
  created_at: timestamp(),
  pause: z.nullable(
    z.object({
      since: timestamp(),
      by: z.string(),
      reason: z.nullable(z.string()),
      scope: z.enum(["workspace", "deployment"]),
    }),
  ),
});

/** To pause it or to end that, and why. */
export const pauseChange = body({
  paused: z.boolean({ error: "must be true or false" }),
  reason: z.optional(line(300)),
});

/** What may be changed of one. */
export const workspaceChange = body({ name: line(LONGEST_NAME) });

/** The same, from what is kept. */
export const viewWorkspace = (
  workspace: Omit<SealedWorkspace, "open">,
  pause: Pause | null,
): z.infer<typeof workspaceView> =>
  toSnakeCase(workspaceView, {
    ...workspace,
    connected: workspace.isConnected,
    pause: pause && { ...pause, since: pause.at },
  });

/** Gives a workspace another name; the same name changes nothing. Refuses one that was deleted meanwhile. */
export async function renameWorkspace(
  workspaces: Pick<Workspaces, "rename">,
  { workspace, name, actor, at }: Acting & { readonly name: string },
): Promise<Omit<SealedWorkspace, "open">> {
  if (name === workspace.name) return workspace;
  const detail = { from: workspace.name, to: name };
  const entry = auditEntry({ workspaceId: workspace.id, actor, at }, "workspace.renamed", workspace.id, detail);
  if (!(await workspaces.rename(workspace.id, name, entry)))
    throw new Failure("WORKSPACE_NOT_FOUND", "workspace not found or access denied");
  return { ...workspace, name };
}
