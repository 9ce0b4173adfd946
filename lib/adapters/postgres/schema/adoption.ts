import {
  fedBySubscription,
  HIDDEN_REMEDY,
  hiddenRows,
  SUBSCRIPTION_REMEDY,
} from "../../../model/change/capture-off.ts";
import { Failure } from "../../../model/failure.ts";
import { pushes } from "../../../model/mapping/mapping.ts";
import type { TableShape } from "../../../model/mapping/shape.ts";
import type { CatalogTable } from "../capture/catalog.ts";
import { integerKey } from "../capture/follow-table.ts";
import { metadata, type Row, type Session } from "../session/sql.ts";

/** What the schema holds of a mapping, by its id. */
const OF_MAPPING = [
  ...(["loads", "aborts", "pushed", "inboundErrors", "tombstones"] as const),
  ...(["heldDeletes", "dryRuns", "conflicts", "history", "cycles"] as const),
];

/**
 * A take-over gives the former workspace's mappings the config version 0. The first mapping of such a table continues as
 * that one, with all that the schema holds of it; a mapping of another object starts afresh. In the caller's transaction.
 */
export async function adoptState(
  session: Session,
  { schema, mappingId, table, sfObject }: TableShape,
): Promise<Row | undefined> {
  const tables = metadata(schema);
  const moves = OF_MAPPING.map(
    (one) => `${one} AS (UPDATE ${tables[one]} t SET mapping_id = $1 FROM former WHERE t.mapping_id = former.id)`,
  );
  const [adopted] = await session.query(
    `WITH former AS (SELECT mapping_id AS id FROM ${tables.state}
       WHERE table_name::text = $2 AND config_version = 0 AND shape ->> 'sfObject' = $3 FOR UPDATE), ${moves.join(", ")}
     UPDATE ${tables.state} s SET mapping_id = $1 FROM former WHERE s.mapping_id = former.id
     RETURNING s.config_version, s.shape`,
    [mappingId, table, sfObject],
  );
  if (!adopted)
    await session.query(`DELETE FROM ${tables.state} WHERE table_name::text = $1 AND config_version = 0`, [table]);
  return adopted;
}

/** The table's integer key. Refuses, with the remedy, a table that cannot be adopted. */
export function adoptedKey(shape: TableShape, found: CatalogTable): string {
  const table = `${shape.schema}.${shape.table}`;
  refuseUnless(found.kind === "r", `${table} is ${KINDS[found.kind] ?? "not a table"}; map a plain table instead`);
  refuseUnless(!found.isPartition, `${table} is a partition of another table; map a plain table instead`);
  refuseUnless(
    found.isOwned,
    `${table} belongs to ${found.owner}; connect as its owner, or grant that role to the user that Bridge connects as`,
  );
  refuseUnless(!found.isHidden, `${hiddenRows(table)}; ${HIDDEN_REMEDY}`);
  refuseUnless(!(found.isSubscribed && pushes(shape.direction)), `${fedBySubscription(table)}; ${SUBSCRIPTION_REMEDY}`);
  const key = integerKey(found);
  if (key !== null) return key;
  throw new Failure(
    "CONFLICT",
    `${table} has no primary key of one integer column; add one, for example: ALTER TABLE ${table} ADD COLUMN id bigserial PRIMARY KEY`,
  );
}

const KINDS: Readonly<Record<string, string>> = {
  v: "a view",
  m: "a materialized view",
  p: "a partitioned table",
  f: "a foreign table",
};

function refuseUnless(holds: boolean, message: string): void {
  if (!holds) throw new Failure("CONFLICT", message);
}
