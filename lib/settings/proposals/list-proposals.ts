import * as z from "zod/mini";
import type { SealedWorkspace } from "../../access/ports.ts";
import type { Mappings } from "../../config/ports.ts";
import { migrationOf } from "../../model/mapping/mapping.ts";
import { isAwaited } from "../../model/mapping/migration.ts";
import { toSnakeCase } from "../../model/snake-case.ts";
import { withDatabase } from "../../monitoring/with-database.ts";
import type { RowQueriesOf } from "../row-ports.ts";

const columns = z.array(z.object({ column: z.string(), type: z.string() }));

/** What a mapped table lacks, for the application's own migration. */
export const proposalView = z.object({
  mapping_id: z.string(),
  sf_object: z.string(),
  schema: z.string(),
  table: z.string(),
  awaited: z.boolean(),
  create: z.boolean(),
  columns,
  wider: columns,
  indexes: z.array(z.object({ name: z.string(), column: z.string(), unique: z.boolean() })),
  sql: z.array(z.string()),
});

interface Needs {
  readonly mappings: Pick<Mappings, "list">;
  readonly rowQueries: RowQueriesOf;
}

/** The proposals of all mappings, as their tables are now. */
export async function listProposals(
  needs: Needs,
  workspace: SealedWorkspace,
): Promise<readonly z.infer<typeof proposalView>[]> {
  const { mappings } = await needs.mappings.list(workspace.id);
  const migrations = mappings.flatMap(({ provisioning }) => migrationOf(provisioning) ?? []);
  if (migrations.length === 0) return [];
  const proposals = await withDatabase(needs.rowQueries, workspace, (queries) => queries.propose(migrations));
  return proposals.flatMap((proposal) => {
    const mapping = mappings.find(({ pgTable }) => pgTable === proposal.table);
    if (mapping === undefined) return [];
    const { id: mappingId, sfObject } = mapping;
    return [toSnakeCase(proposalView, { ...proposal, mappingId, sfObject, awaited: isAwaited(proposal) })];
  });
}
