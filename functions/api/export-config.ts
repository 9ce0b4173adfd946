import { exportConfig as exportOf } from "../../lib/config/export-config.ts";
import { endpoint } from "../../lib/http/endpoint.ts";
import { mappings } from "../composition.ts";
import { onLambda } from "../on-lambda.ts";

/** All mappings of the workspace as a config document (spec 4, endpoint 7). */
export const exportConfig = endpoint({
  route: "export-config",
  services: () => ({ mappings: mappings() }),
  run: async ({ workspace, services }) => exportOf((await services.mappings.list(workspace.id)).mappings),
});

export const handler = onLambda(exportConfig);
