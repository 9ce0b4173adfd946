import { checked } from "../../lib/settings/findings.ts";
import { testSalesforce as test } from "../../lib/settings/test-salesforce.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { mappings, now, saves, usage } from "../services/composition.ts";

export const handler = onLambda({
  route: "test-salesforce",
  summary:
    "Looks at the org as it is connected: session, saving, allowance, clock. Costs three of its API calls, and changes no record.",
  output: checked,
  run: ({ workspace }) => test({ readUsage: usage(), mappings: mappings(), probeSaves: saves(), now }, workspace),
});
