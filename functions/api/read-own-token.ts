import { endpoint } from "../../lib/http/endpoint.ts";
import { tokenView, viewToken } from "../../lib/settings/token-view.ts";
import { onLambda } from "../invocation/on-lambda.ts";

/** The token that asks: whose it is and what it may do. */
export const readOwnToken = endpoint({
  route: "read-own-token",
  summary: "The token that asks: whose it is and what it may do.",
  output: tokenView,
  services: () => null,
  run: async ({ token, at }) => viewToken(token, at),
});

export const handler = onLambda(readOwnToken);
