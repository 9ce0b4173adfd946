import { checked } from "../../lib/settings/findings.ts";
import { testSalesforce as test } from "../../lib/settings/test-salesforce.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { now, usage } from "../services/composition.ts";

export const handler = onLambda({
  route: "test-salesforce",
  summary: "Looks at the org as it is connected: session, allowance, clock. Costs one of its API calls.",
  output: checked,
  run: ({ workspace }) => test({ readUsage: usage(), now }, workspace),
});
