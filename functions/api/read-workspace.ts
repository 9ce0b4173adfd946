import { cachePauses } from "../../lib/access/cache.ts";
import { viewWorkspace, workspaceView } from "../../lib/settings/workspaces/workspace.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { now, workspaces } from "../services/composition.ts";

export const handler = onLambda({
  route: "read-workspace",
  summary: "The workspace: its name, whether both sides are connected, and who has paused it.",
  output: workspaceView,
  // Read afresh: the console asks right after a switch, and then not for half a minute.
  run: async ({ workspace }) => viewWorkspace(workspace, await cachePauses(workspaces(), now).find(workspace.id)),
});
