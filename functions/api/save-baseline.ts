import { saveBaseline as save } from "../../lib/config/baseline.ts";
import { baseline } from "../../lib/http/contract.ts";
import { endpoint } from "../../lib/http/endpoint.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { baselines, mappings } from "../services/composition.ts";

/** Pins the current configuration as the baseline against which drift is measured (spec 4, endpoint 9). */
export const saveBaseline = endpoint({
  route: "save-baseline",
  summary: "Pins the current configuration as the baseline against which drift is measured.",
  output: baseline,
  services: () => ({ mappings: mappings(), baselines: baselines() }),
  run: ({ workspace, services, actor, at }) => save(services, { workspaceId: workspace.id, actor, at }),
});

export const handler = onLambda(saveBaseline);
