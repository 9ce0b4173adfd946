import { saveBaseline as save } from "../../lib/config/baseline.ts";
import { baseline } from "../../lib/http/contract.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { baselines, mappings } from "../services/composition.ts";

export const handler = onLambda({
  route: "save-baseline",
  summary: "Pins the current configuration as the baseline against which drift is measured.",
  output: baseline,
  run: ({ workspace, actor, at }) =>
    save({ mappings: mappings(), baselines: baselines() }, { workspaceId: workspace.id, actor, at }),
});
