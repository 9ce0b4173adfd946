import { Readable } from "node:stream";
import * as z from "zod/mini";
import { csvOf } from "../../lib/audit/csv.ts";
import { Paged, Plain } from "../../lib/http/answer.ts";
import { auditEntry } from "../../lib/http/contract.ts";
import { filterText, instantText, oneOf, page, pageSize } from "../../lib/http/input.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { auditLog } from "../services/composition.ts";

export const handler = onLambda({
  route: "list-audit-log",
  onlyReads: true,
  summary: "The audit log, most recent first, as a page or as a CSV file.",
  input: z.object({
    ...page(),
    limit: z.optional(pageSize(500)),
    actor: z.optional(filterText()),
    action: z.optional(filterText()),
    from: z.optional(instantText()),
    to: z.optional(instantText()),
    before_id: z.optional(filterText()),
    format: z.optional(oneOf(["csv", "json"])),
  }),
  output: auditEntry,
  run: async ({ input, workspace }) => {
    const { actor = null, action = null, from, to, offset, before_id: beforeId } = input;
    const filter = { workspaceId: workspace.id, actor: actor?.toLowerCase() ?? null, action, from, to };
    if (input.format === "csv") {
      const batches = await auditLog().batches(filter, { limit: input.limit ?? null, offset, beforeId });
      return new Plain("text/csv", Readable.from(csvOf(batches)), CSV_FILE);
    }
    const limit = input.limit ?? 50;
    return new Paged(await auditLog().page(filter, { limit, offset, beforeId }), { limit, offset });
  },
});

const CSV_FILE = { "Content-Disposition": 'attachment; filename="audit-log.csv"' };
