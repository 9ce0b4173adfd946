import * as z from "zod/mini";
import { findMapping } from "../../lib/config/find-mapping.ts";
import { noneUpTo } from "../../lib/http/input.ts";
import { toSnakeCase } from "../../lib/model/snake-case.ts";
import { cycleView, readCycle as read } from "../../lib/monitoring/read-cycle.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { mappings, monitoring, polls } from "../services/composition.ts";

export const handler = onLambda({
  route: "read-cycle",
  summary:
    "A cycle by the mark that poll-now gives in the header `Bridge-Cycle`. With `wait` the answer comes when it has ended, or after so many seconds.",
  input: z.object({ wait: noneUpTo(20) }),
  output: cycleView,
  services: () => ({ mappings: mappings(), monitoring: monitoring(), polls: polls() }),
  find: ({ path, workspace, services }) => findMapping(services.mappings, workspace.id, path.mapping_id),
  run: async ({ input, path, resource: mapping, workspace, services }) =>
    toSnakeCase(cycleView, await read(services, { workspace, mapping, mark: path.mark, waitSeconds: input.wait })),
});
