import { exportConfig as exportOf } from "../../lib/config/export-config.ts";
import { configVersionOf } from "../../lib/config/version.ts";
import { Tagged } from "../../lib/http/answer.ts";
import { configDocument } from "../../lib/http/contract.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { mappings } from "../services/composition.ts";

export const handler = onLambda({
  route: "export-config",
  onlyReads: true,
  summary: "All mappings of the workspace as a config document.",
  output: configDocument,
  run: async ({ workspace }) => {
    const { generation, mappings: all } = await mappings().list(workspace.id);
    return new Tagged(exportOf(all), configVersionOf(generation));
  },
});
