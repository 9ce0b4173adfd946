import type { ColumnValues } from "../../../model/mapping/shape.ts";
import type { Uncaptured } from "../../../model/record/judge-image.ts";
import type { Collision } from "../../../model/record/merge.ts";
import type { Lease } from "../../../sync/ports/lease-ports.ts";
import type { MappedTable, StoreContext } from "../session/sql.ts";

/** A collision and the record that it happened to. */
export interface Conflict extends Collision {
  readonly sfid: string;
  readonly recordId: number;
  /** When the record was last changed, by Salesforce's clock. */
  readonly salesforceAt: Date;
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

/** Records true collisions with both values, for the operator. A schema of version 8 has no place for their times, and takes the rest. */
export async function recordConflicts(
  { session, tables, now }: StoreContext,
  { mappingId }: Lease,
  conflicts: readonly Conflict[],
): Promise<void> {
  if (conflicts.length === 0) return;
  const rows = conflicts.map(({ recordId, column, postgresAt, salesforceAt, ...conflict }) => ({
    ...conflict,
    mapping_id: mappingId,
    record_id: recordId,
    field: column,
    postgres_at: postgresAt,
    salesforce_at: salesforceAt,
    at: now(),
  }));
  await session.query(
    `INSERT INTO ${tables.conflicts} OVERRIDING USER VALUE SELECT * FROM jsonb_populate_recordset(NULL::${tables.conflicts}, $1::jsonb)`,
    [JSON.stringify(rows)],
  );
}

/** Values of a row that no trigger saw, which become a change of it. */
export interface UncapturedChange {
  readonly key: number;
  readonly sfid: string;
  readonly by: Uncaptured;
  /** What Salesforce holds, and what the row does. */
  readonly old: ColumnValues;
  readonly values: ColumnValues;
  /** Salesforce has won: the change ends at once. */
  readonly isOverruled: boolean;
}

/** Captures them; gives those that end at once, with the reason. */
export async function captureUncaptured(
  { session, tables }: StoreContext,
  mapped: MappedTable,
  changes: readonly UncapturedChange[],
): Promise<{ readonly id: number; readonly reason: string }[]> {
  if (changes.length === 0) return [];
  const captured = await session.query<{ id: number; record_id: number }>(
    `INSERT INTO ${tables.log} (action, table_name, record_id, sfid, old, "values", captured)
     SELECT 'UPDATE', :table, c.record_id, c.sfid, c.old, c."values", c.captured
     FROM unnest(:keys::bigint[], :sfids::text[], :olds::jsonb[], :values::jsonb[], :causes::text[]) WITH ORDINALITY
       AS c (record_id, sfid, old, "values", captured, place)
     ORDER BY c.place RETURNING id, record_id`,
    {
      table: mapped.shape.table,
      keys: changes.map(({ key }) => key),
      sfids: changes.map(({ sfid }) => sfid),
      olds: changes.map(({ old }) => JSON.stringify(old)),
      values: changes.map(({ values }) => JSON.stringify(values)),
      causes: changes.map(({ by }) => by),
    },
  );
  const ids = new Map(captured.map(({ id, record_id }) => [Number(record_id), Number(id)]));
  return changes
    .filter(({ isOverruled }) => isOverruled)
    .map(({ key, values }) => ({ id: ids.get(key) ?? 0, reason: overruledBy(Object.keys(values)) }));
}

const overruledBy = (columns: readonly string[]): string =>
  `CONFLICT: no trigger saw this write (session_replication_role = replica), and Salesforce wins [${columns.join(", ")}]; capture: always captures such writes`;
