import { endpoint } from "../../lib/http/endpoint.ts";
import { viewWorkspace, workspaceView } from "../../lib/settings/workspace.ts";
import { onLambda } from "../invocation/on-lambda.ts";

/** The workspace itself: its name, and whether both sides are connected. */
export const readWorkspace = endpoint({
  route: "read-workspace",
  summary: "The workspace: its name, and whether both sides are connected.",
  output: workspaceView,
  services: () => null,
  run: async ({ workspace }) => viewWorkspace(workspace),
});

export const handler = onLambda(readWorkspace);
