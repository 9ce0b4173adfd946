import { connectionsView, viewConnections } from "../../lib/settings/connection-view.ts";
import { onLambda } from "../invocation/on-lambda.ts";

export const handler = onLambda({
  route: "read-connections",
  summary: "What the workspace is connected to. Secrets are never shown again.",
  output: connectionsView,
  run: async ({ workspace }) => viewConnections(await workspace.open()),
});
