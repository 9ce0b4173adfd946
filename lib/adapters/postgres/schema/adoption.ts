import { fedBySubscription, SUBSCRIPTION_REMEDY } from "../../../model/change/capture-off.ts";
import { Failure } from "../../../model/failure.ts";
import { pushes } from "../../../model/mapping/mapping.ts";
import type { TableShape } from "../../../model/mapping/shape.ts";
import type { CatalogTable } from "../capture/catalog.ts";
import { INTEGERS } from "../capture/follow-table.ts";

/** The table's integer key. Refuses, with the remedy, a table that cannot be adopted. */
export function adoptedKey(shape: TableShape, found: CatalogTable): string {
  const table = `${shape.schema}.${shape.table}`;
  refuseUnless(found.kind === "r", `${table} is ${KINDS[found.kind] ?? "not a table"}; map a plain table instead`);
  refuseUnless(!found.isPartition, `${table} is a partition of another table; map a plain table instead`);
  refuseUnless(
    found.isOwned,
    `${table} belongs to ${found.owner}; connect as its owner, or grant that role to the user that Bridge connects as`,
  );
  refuseUnless(!(found.isSubscribed && pushes(shape.direction)), `${fedBySubscription(table)}; ${SUBSCRIPTION_REMEDY}`);
  const [key, ...others] = found.primaryKey;
  const type = found.columns.find(({ column }) => column === key)?.type;
  if (key === undefined || others.length > 0 || type === undefined || !INTEGERS.includes(type)) {
    throw new Failure(
      "CONFLICT",
      `${table} has no primary key of one integer column; add one, for example: ALTER TABLE ${table} ADD COLUMN id bigserial PRIMARY KEY`,
    );
  }
  return key;
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
