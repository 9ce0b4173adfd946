import type { Workspace } from "../model/workspace.ts";
import type { SealedWorkspace, Workspaces } from "./ports.ts";

/** What a reader sees of a workspace's name and connections may be this old. */
const REMEMBERED_MILLISECONDS = 2000;

/** Workspaces that one process remembers at most. */
const MAX_REMEMBERED = 1000;

/**
 * The same workspaces for endpoints that only read, looked up at most every two seconds by this process. One that is not
 * connected yet is looked up each time, so that whoever connects it sees it at once.
 */
export function rememberWorkspaces(workspaces: Pick<Workspaces, "find">, now: () => Date): Pick<Workspaces, "find"> {
  const found = new Map<string, { readonly workspace: SealedWorkspace; readonly until: number }>();

  return {
    find: async (workspaceId) => {
      const known = found.get(workspaceId);
      if (known && known.until > now().getTime()) return known.workspace;
      const sealed = await workspaces.find(workspaceId);
      const workspace = sealed && openedOnce(sealed);
      if (found.size >= MAX_REMEMBERED) found.clear();
      if (!workspace?.isConnected) found.delete(workspaceId);
      else found.set(workspaceId, { workspace, until: now().getTime() + REMEMBERED_MILLISECONDS });
      return workspace;
    },
  };
}

/** The same workspace, its credentials decrypted at most once. */
function openedOnce(workspace: SealedWorkspace): SealedWorkspace {
  let opening: Promise<Workspace> | null = null;
  return {
    ...workspace,
    open: () => {
      opening ??= workspace.open().catch((error: unknown) => {
        opening = null;
        throw error;
      });
      return opening;
    },
  };
}
