import { endpoint } from "../../lib/http/endpoint.ts";
import { budgetView, readBudget as read } from "../../lib/settings/budget.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { engineReports, mappings } from "../services/composition.ts";

/** The org's API calls: used, left, and what a day will cost. */
export const readBudget = endpoint({
  route: "read-budget",
  summary: "The org's API calls: used, left, what a day of these mappings costs, and the engine's pace.",
  output: budgetView,
  services: () => ({ mappings: mappings(), engine: engineReports() }),
  run: ({ workspace, services, at }) => read(services, workspace.id, at),
});

export const handler = onLambda(readBudget);
