import * as z from "zod/mini";
import { noneUpTo } from "../../lib/http/input.ts";
import { toSnakeCase } from "../../lib/model/snake-case.ts";
import { cycleView, readCycle as read } from "../../lib/monitoring/read-cycle.ts";
import { onMapping } from "../on-mapping.ts";
import { monitoring, polls } from "../services/composition.ts";

export const handler = onMapping({
  route: "read-cycle",
  summary:
    "A cycle by the mark that poll-now gives in the header `Bridge-Cycle`. With `wait` the answer comes when it has ended, or after so many seconds.",
  input: z.object({ wait: noneUpTo(20) }),
  output: cycleView,
  run: async ({ input, path, resource: mapping, workspace }) =>
    toSnakeCase(
      cycleView,
      await read(
        { monitoring: monitoring(), polls: polls() },
        { workspace, mapping, mark: path.mark, waitSeconds: input.wait },
      ),
    ),
});
