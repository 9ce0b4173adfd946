import * as z from "zod/mini";
import { beginSignIn } from "../../lib/settings/connect-salesforce.ts";
import { authorizeBody } from "../../lib/settings/connection-input.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { connections, hostGuard } from "../services/composition.ts";

export const handler = onLambda({
  route: "authorize-salesforce",
  summary: "Begins a sign-in by browser: send it to authorize_url, and what it comes back with to the completion.",
  input: z.object({ body: authorizeBody }),
  output: z.object({ authorize_url: z.string(), state: z.string() }),
  run: async ({ input, workspace, actor, at }) => {
    const { login_url, client_id, client_secret, redirect_uri } = input.body;
    const wanted = {
      loginUrl: login_url,
      clientId: client_id,
      clientSecret: client_secret,
      redirectUri: redirect_uri,
    };
    const { authorizeUrl, state } = await beginSignIn(
      { hostGuard: hostGuard(), connections: connections() },
      { workspace, actor, at },
      wanted,
    );
    return { authorize_url: authorizeUrl, state };
  },
});
