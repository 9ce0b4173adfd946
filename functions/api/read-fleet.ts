import * as z from "zod/mini";
import { fleetRow, readFleet as read } from "../../lib/settings/workspaces/fleet.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { counters, engineReports, mappings, workspaces } from "../services/composition.ts";

export const handler = onLambda({
  route: "read-fleet",
  onlyReads: true,
  summary:
    "Every workspace of the deployment with its state, what waits, and calls, for operators: in the workspace `deployment`, with a token of `bridge operator token`. Figures are what cycles kept last, each with its time.",
  output: z.array(fleetRow),
  run: () => read({ workspaces: workspaces(), counters: counters(), engine: engineReports(), mappings: mappings() }),
});
