import { testPostgres as test } from "../../lib/settings/connect-postgres.ts";
import { checked } from "../../lib/settings/findings.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { databases, hostGuard, refuseKept } from "../services/composition.ts";

export const handler = onLambda({
  route: "test-postgres",
  summary: "Looks at the database as it is connected, and says what to do about what is not as it must be.",
  output: checked,
  run: ({ workspace }) => test({ databases, hostGuard: hostGuard(), refuseKept }, workspace),
});
