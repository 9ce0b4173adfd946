import * as z from "zod/mini";
import { Paged } from "../../lib/http/answer.ts";
import { activityRow } from "../../lib/http/contract.ts";
import { endpoint } from "../../lib/http/endpoint.ts";
import { filterText, oneOf, pageOffset, pageSize } from "../../lib/http/input.ts";
import { STATES } from "../../lib/model/change/change.ts";
import { withDatabase } from "../../lib/monitoring/with-database.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { monitoring } from "../services/composition.ts";

/** The trigger log of the workspace, most recent first (spec 4, endpoint 3). */
export const listActivity = endpoint({
  route: "list-activity",
  onlyReads: true,
  summary: "The trigger log of the workspace, most recent first.",
  input: z.object({
    limit: z._default(pageSize(200), 50),
    offset: pageOffset(),
    state: z.optional(oneOf(STATES)),
    table: z.optional(filterText()),
  }),
  output: activityRow,
  services: () => ({ monitoring: monitoring() }),
  run: async ({ input, workspace, services }) => {
    const { limit, offset, state = null, table = null } = input;
    const { rows, total } = await withDatabase(services.monitoring, workspace, (database) =>
      database.listActivity({ limit, offset, state, table }),
    );
    return new Paged(rows, { total, limit, offset });
  },
});

export const handler = onLambda(listActivity);
