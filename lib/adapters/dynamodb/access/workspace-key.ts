/** The key of a workspace's item. */
export const workspaceKey = (workspaceId: string) => ({ pk: workspaceId, sk: "workspace" });
