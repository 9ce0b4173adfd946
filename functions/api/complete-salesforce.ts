import * as z from "zod/mini";

import { toSnakeCase } from "../../lib/model/snake-case.ts";
import { completeSignIn } from "../../lib/settings/connect-salesforce.ts";
import { completeBody } from "../../lib/settings/connection-input.ts";
import { connectedView } from "../../lib/settings/connection-view.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { loginServices } from "../services/login-services.ts";

export const handler = onLambda({
  route: "complete-salesforce",
  summary: "Ends a sign-in by browser with the state and the code that it brought back. It works once.",
  input: z.object({ body: completeBody }),
  output: connectedView,
  run: async ({ input, workspace, actor, at }) => {
    const { state, code } = input.body;
    return toSnakeCase(connectedView, await completeSignIn(loginServices(), { workspace, actor, at }, state, code));
  },
});
