import * as z from "zod/mini";
import { budgetChange, budgetView, changeBudget as change, readBudget } from "../../lib/settings/budget.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { callShares, counters, engineReports, mappings } from "../services/composition.ts";

export const handler = onLambda({
  route: "change-budget",
  summary:
    "What of the org's daily API calls the workspace may make: a share (0.8 unless set), and an absolute number besides (none unless set); and how often mappings without changes are asked about. What is left out stays as it was. It holds within a minute.",
  input: z.object({ body: budgetChange }),
  output: budgetView,
  run: async ({ input, workspace, actor, at }) => {
    const services = { mappings: mappings(), engine: engineReports(), counters: counters(), shares: callShares() };
    await change(services, { workspaceId: workspace.id, actor, at }, input.body);
    return readBudget(services, workspace.id, at, null);
  },
});
