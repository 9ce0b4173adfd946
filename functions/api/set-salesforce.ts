import * as z from "zod/mini";

import { toSnakeCase } from "../../lib/model/snake-case.ts";
import { connectByCredentials } from "../../lib/settings/connect-salesforce.ts";
import { credentialsOf, salesforceBody } from "../../lib/settings/connection-input.ts";
import { connectedView } from "../../lib/settings/connection-view.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { loginServices } from "../services/login-services.ts";

export const handler = onLambda({
  route: "set-salesforce",
  summary: "Connects the workspace to an org by credentials for machines, after a login with them.",
  input: z.object({ body: salesforceBody }),
  output: connectedView,
  run: async ({ input, workspace, actor, at }) => {
    const { login_url: loginUrl, credentials } = input.body;
    const connected = await connectByCredentials(
      loginServices(),
      { workspace, actor, at },
      loginUrl,
      credentialsOf(credentials),
    );
    return toSnakeCase(connectedView, connected);
  },
});
