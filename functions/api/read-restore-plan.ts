import { readRestorePlan, restorePlan } from "../../lib/settings/restore/restore.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { engineReports, mappings, pauses, rowQueriesOf, tokens, webhooks } from "../services/composition.ts";

export const handler = onLambda({
  route: "read-restore-plan",
  summary:
    "What waits after PostgreSQL or DynamoDB was restored to an earlier time, by mapping: changes that Salesforce does not hold as they are, in groups with samples and what accept-restore decides of them by default, what the configuration was changed to since, and the tokens and webhooks that DynamoDB has, for those that were ended since may be back. What Salesforce holds already is not among them: it has ended as SUCCESS.",
  output: restorePlan,
  run: ({ workspace, token: { scopes } }) =>
    readRestorePlan(
      {
        ...{ engine: engineReports(), rowQueries: rowQueriesOf(), mappings: mappings(), pauses: pauses() },
        ...{ tokens: scopes.includes("admin") ? tokens() : NONE, webhooks: webhooks() },
      },
      workspace,
    ),
});

/** Who has which token is for the scope admin. */
const NONE = { list: async () => [] };
