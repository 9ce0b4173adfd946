import { endpoint } from "../../lib/http/endpoint.ts";
import { connectionsView, viewConnections } from "../../lib/settings/connection-view.ts";
import { onLambda } from "../invocation/on-lambda.ts";

/** What the workspace is connected to, without any secret. */
export const readConnections = endpoint({
  route: "read-connections",
  summary: "What the workspace is connected to. Secrets are never shown again.",
  output: connectionsView,
  services: () => null,
  run: async ({ workspace }) => viewConnections(await workspace.open()),
});

export const handler = onLambda(readConnections);
