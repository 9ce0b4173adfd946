import * as z from "zod/mini";
import type { SealedWorkspace, Workspaces } from "../access/ports.ts";
import { Failure } from "../model/failure.ts";
import { newId } from "../model/id.ts";
import { body, line, timestamp } from "./shapes.ts";

/** The longest name of a workspace, in characters. */
const LONGEST_NAME = 100;

/** A workspace as the settings area shows it. */
export const workspaceView = z.object({
  id: z.string(),
  name: z.string(),
  /** Both sides are connected. */
  connected: z.boolean(),
  created_at: timestamp(),
});

/** What may be changed of one. */
export const workspaceChange = body({ name: line(LONGEST_NAME) });

/** The same, from what is kept. */
export function viewWorkspace(workspace: Omit<SealedWorkspace, "open">): z.infer<typeof workspaceView> {
  const { id, name, isConnected, createdAt } = workspace;
  return { id, name, connected: isConnected, created_at: createdAt.toISOString() };
}

interface Asked {
  readonly workspace: SealedWorkspace;
  readonly name: string;
  readonly actor: string;
  readonly at: Date;
}

/** Gives a workspace another name; the same name changes nothing. Refuses one that was deleted meanwhile. */
export async function renameWorkspace(
  workspaces: Pick<Workspaces, "rename">,
  { workspace, name, actor, at }: Asked,
): Promise<Omit<SealedWorkspace, "open">> {
  if (name === workspace.name) return workspace;
  const renamed = await workspaces.rename(workspace.id, name, {
    id: newId("aud"),
    workspaceId: workspace.id,
    actor,
    action: "workspace.renamed",
    resourceId: workspace.id,
    detail: { from: workspace.name, to: name },
    createdAt: at,
  });
  if (!renamed) throw new Failure("WORKSPACE_NOT_FOUND", "workspace not found or access denied");
  return { ...workspace, name };
}
