import * as z from "zod/mini";
import { filterText } from "../../lib/http/input.ts";
import { Failure } from "../../lib/model/failure.ts";
import { pushes } from "../../lib/model/mapping/mapping.ts";
import { wake } from "../../lib/sync/cycle/wake.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { cachedMappings, queue, wakeUpTimes } from "../services/composition.ts";

export const handler = onLambda({
  route: "nudge",
  summary:
    "Says that the application has committed changes: they are sent now, not with the next beat. Call it after the commit, as often as you like; a mapping is woken at most every two seconds, 6,000 requests a minute and address are answered, and what a nudge misses the next beat sends. `table` names the only one that has changed.",
  input: z.object({ table: z.optional(filterText()) }),
  output: z.object({ mappings: z.int() }),
  run: async ({ input: { table }, workspace, at }) => {
    const sending = (await cachedMappings().listActive(workspace.id)).filter(({ syncDirection }) =>
      pushes(syncDirection),
    );
    const meant = table === undefined ? sending : sending.filter(({ pgTable }) => pgTable === table);
    if (table !== undefined && meant.length === 0) {
      const names = sending.map(({ pgTable }) => pgTable).join(", ") || "none";
      throw new Failure(
        "NOT_FOUND",
        `no active mapping sends changes of table ${table}; tables that are sent: ${names}`,
      );
    }
    await wake({ times: wakeUpTimes(), cycles: queue("cycles") }, meant, "push", { now: at.getTime() });
    return { mappings: meant.length };
  },
});
