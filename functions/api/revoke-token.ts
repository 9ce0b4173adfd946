import * as z from "zod/mini";
import { noneUpTo } from "../../lib/http/input.ts";
import { revokeToken as revoke } from "../../lib/settings/revoke-token.ts";
import { tokenView, viewToken } from "../../lib/settings/token-view.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { tokens } from "../services/composition.ts";

const HOUR_MILLISECONDS = 3_600_000;

export const handler = onLambda({
  route: "revoke-token",
  summary:
    "Ends an API token, within three seconds everywhere. ?in_hours= lets it open the API for so many hours more, at most 720, while a new one takes its place.",
  input: z.object({ in_hours: noneUpTo(720) }),
  output: tokenView,
  run: async ({ input, path, workspace, actor, at }) => {
    const endsAt = new Date(at.getTime() + input.in_hours * HOUR_MILLISECONDS);
    const asked = { workspaceId: workspace.id, tokenId: path.token_id, endsAt, actor, at };
    return viewToken(await revoke(tokens(), asked), at);
  },
});
