import { refuseChanges } from "../log/refuse-changes.ts";
import { type MappedTable, type Metadata, name, qualified, type StoreContext } from "../session/sql.ts";

interface Clash {
  readonly id: number;
  readonly sfid: string;
  /** Key of the row that has this sfid already, or gets it first. */
  readonly other: number;
  readonly young: boolean;
}

/**
 * A row cannot get an sfid that another row has. Where a pull created that other row while our insert was under way,
 * the younger one, if unchanged, gives way. Any other row stays, and the change is FAILED with the reason; so is the
 * later one of two that got one sfid, as upsert values can that only Salesforce treats as the same.
 */
export async function resolveClashes(
  store: StoreContext,
  mapped: MappedTable,
  recordIds: readonly number[],
): Promise<void> {
  const { session, tables } = store;
  const { schema, table } = mapped.shape;
  const clashes = await session.query<Clash>(clashStatement(tables, mapped), [table, recordIds]);
  const young = clashes.filter((clash) => clash.young);
  if (young.length > 0) {
    await session.query(
      `DELETE FROM ${qualified(schema, table)} WHERE ${name(mapped.layout.key)} = ANY ($1::bigint[])`,
      [young.map(({ other }) => other)],
    );
  }
  const refused = new Map(clashes.filter((clash) => !clash.young).map((clash) => [clash.id, clash]));
  if (refused.size === 0) return;
  const ids = [...refused.keys()];
  await session.query(`UPDATE ${tables.log} SET sfid = NULL WHERE id = ANY ($1::bigint[])`, [ids]);
  await refuseChanges(
    store,
    mapped,
    Array.from(refused.values(), ({ id, sfid, other }) => ({
      id,
      reason: `DUPLICATE_ROW: Salesforce record ${sfid} is row ${other} of ${table} already`,
    })),
  );
}

/**
 * All results that wait for their rows are read once: joined with those of the given rows, each would be looked for among
 * all, for the planner, which saw the log while they were being sent, expects none.
 */
function clashStatement(tables: Metadata, { shape, layout }: MappedTable): string {
  const key = name(layout.key);
  const table = qualified(shape.schema, shape.table);
  const pending = "l.table_name::text = $1 AND l.row_owed AND l.state::text = 'SUCCESS'";
  return `
    SELECT l.id, l.sfid, o.${key} AS other,
      o.${key} > l.record_id AND o._ab_lastop::text IS NOT DISTINCT FROM 'SYNCED' AND NOT EXISTS (
        SELECT FROM ${tables.log} w WHERE w.table_name::text = $1 AND w.record_id = o.${key} AND w.processed_at IS NULL) AS young
    FROM ${tables.log} l JOIN ${table} o ON o.sfid::text = l.sfid::text AND o.${key} <> l.record_id
    WHERE ${pending} AND l.record_id = ANY ($2::bigint[])
    UNION ALL
    SELECT id, sfid, first, false FROM (
      SELECT l.id, l.sfid, l.record_id, first_value(l.record_id) OVER (PARTITION BY l.sfid ORDER BY l.id) AS first
      FROM ${tables.log} l
      WHERE ${pending} AND l.sfid IS NOT NULL AND NOT EXISTS (SELECT FROM ${table} o WHERE o.${key} = l.record_id AND o.sfid::text = l.sfid::text)
    ) AS results WHERE record_id <> first AND record_id = ANY ($2::bigint[])`;
}
