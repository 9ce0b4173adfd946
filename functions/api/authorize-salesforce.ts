import * as z from "zod/mini";
import { toCamelCase } from "../../lib/model/snake-case.ts";
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
    const needs = { hostGuard: hostGuard(), connections: connections() };
    const wanted = toCamelCase(authorizeBody, input.body);
    const { authorizeUrl, state } = await beginSignIn(needs, { workspace, actor, at }, wanted);
    return { authorize_url: authorizeUrl, state };
  },
});
