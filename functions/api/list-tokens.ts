import * as z from "zod/mini";
import { tokenView, viewToken } from "../../lib/settings/token-view.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { tokens } from "../services/composition.ts";

export const handler = onLambda({
  route: "list-tokens",
  summary:
    "The workspace's API tokens, newest first, revoked and expired ones too for thirty days; never the tokens themselves.",
  output: z.array(tokenView),
  run: async ({ workspace, at }) => (await tokens().list(workspace.id)).map((token) => viewToken(token, at)),
});
