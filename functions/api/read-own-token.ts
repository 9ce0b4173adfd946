import { tokenView, viewToken } from "../../lib/settings/token-view.ts";
import { onLambda } from "../invocation/on-lambda.ts";

export const handler = onLambda({
  route: "read-own-token",
  summary: "The token that asks: whose it is and what it may do.",
  output: tokenView,
  run: async ({ token, at }) => viewToken(token, at),
});
