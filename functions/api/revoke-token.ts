import { endpoint } from "../../lib/http/endpoint.ts";
import { revokeToken as revoke } from "../../lib/settings/revoke-token.ts";
import { tokenView, viewToken } from "../../lib/settings/token-view.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { tokens } from "../services/composition.ts";

/** Ends a token, within seconds everywhere. */
export const revokeToken = endpoint({
  route: "revoke-token",
  summary: "Ends an API token, within three seconds everywhere.",
  output: tokenView,
  services: () => ({ tokens: tokens() }),
  run: async ({ path, workspace, services, actor, at }) =>
    viewToken(await revoke(services.tokens, { workspaceId: workspace.id, tokenId: path.token_id, actor, at }), at),
});

export const handler = onLambda(revokeToken);
