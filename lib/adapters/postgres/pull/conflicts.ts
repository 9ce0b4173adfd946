import type { Collision } from "../../../model/record/merge.ts";
import type { Lease } from "../../../sync/lease/lease-ports.ts";
import type { StoreContext } from "../session/sql.ts";

/** A collision and the record that it happened to. */
export interface Conflict extends Collision {
  readonly sfid: string;
  readonly recordId: number;
}

/** Takes columns out of changes that still wait, because the other side has won them. */
export async function dropColumns(
  { session, tables }: StoreContext,
  dropped: readonly { readonly changeId: number; readonly columns: readonly string[] }[],
): Promise<void> {
  if (dropped.length === 0) return;
  await session.query(
    `UPDATE ${tables.log} l SET "values" = l."values" - ARRAY(SELECT jsonb_array_elements_text(d.columns))
     FROM unnest($1::bigint[], $2::jsonb[]) AS d (id, columns) WHERE l.id = d.id`,
    [dropped.map(({ changeId }) => changeId), dropped.map(({ columns }) => JSON.stringify(columns))],
  );
}

/** Records true collisions with both values, for the operator. */
export async function recordConflicts(
  { session, tables, now }: StoreContext,
  { mappingId }: Lease,
  conflicts: readonly Conflict[],
): Promise<void> {
  if (conflicts.length === 0) return;
  await session.query(
    `INSERT INTO ${tables.conflicts} (mapping_id, sfid, record_id, field, base, postgres, salesforce, winner, at)
     SELECT $1, c.*, $9 FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[]) AS c`,
    [
      mappingId,
      conflicts.map(({ sfid }) => sfid),
      conflicts.map(({ recordId }) => recordId),
      conflicts.map(({ column }) => column),
      conflicts.map(({ base }) => base),
      conflicts.map(({ postgres }) => postgres),
      conflicts.map(({ salesforce }) => salesforce),
      conflicts.map(({ winner }) => winner),
      now(),
    ],
  );
}
