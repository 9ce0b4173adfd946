import * as z from "zod/mini";
import { acceptInvitation } from "../../lib/access/create-token.ts";
import { tokenView, viewToken } from "../../lib/settings/token-view.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { pepper, tokens } from "../services/composition.ts";

export const handler = onLambda({
  route: "accept-invitation",
  summary:
    "Gives an invited person their token, once: the invitation itself is sent as the bearer token, and opens nothing else. The token is in this answer and can never be read again.",
  output: z.extend(tokenView, { token: z.string() }),
  run: async ({ token: invitation, at }) => {
    const { token, record } = await acceptInvitation({ tokens: tokens(), pepper: pepper() }, invitation, at);
    return { ...viewToken(record, at), token };
  },
});
