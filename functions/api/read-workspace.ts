import { viewWorkspace, workspaceView } from "../../lib/settings/workspaces/workspace.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { pauses } from "../services/composition.ts";

export const handler = onLambda({
  route: "read-workspace",
  summary: "The workspace: its name, whether both sides are connected, and who has paused it.",
  output: workspaceView,
  run: async ({ workspace }) => viewWorkspace(workspace, await pauses().find(workspace.id)),
});
