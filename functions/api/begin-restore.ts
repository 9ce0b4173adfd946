import * as z from "zod/mini";
import { beginRestore } from "../../lib/settings/restore/restore.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { auditLog, mappings, restores } from "../services/composition.ts";

export const handler = onLambda({
  route: "begin-restore",
  summary:
    "Says that the workspace's data were restored, where nothing shows it: PostgreSQL and DynamoDB to the same time. Every mapping that writes to Salesforce sends nothing until its restore is accepted, and looks up what waits.",
  output: z.object({ mapping_ids: z.array(z.string()) }),
  run: async ({ workspace, actor, at }) => ({
    mapping_ids: await beginRestore(
      { audit: auditLog(), restores: restores(), mappings: mappings() },
      { workspace, actor, at },
    ),
  }),
});
