import type { Catalog } from "../metadata/catalog.ts";
import type { Field, Rollup } from "../metadata/field.ts";
import type { SObject } from "../metadata/sobject.ts";
import { type Database, quoted, type Row } from "../store/database.ts";

interface Needs {
  readonly database: Database;
  readonly catalog: Catalog;
}

interface ParentRollup {
  readonly parent: SObject;
  readonly field: Field;
  readonly rollup: Rollup;
}

/** Computes the roll-ups of all parents of these rows again; a parent whose value changed gets the stamp (salesforce-facts 9). */
export function refreshRollups(needs: Needs, child: SObject, rows: readonly Row[], stamp: string): void {
  for (const { parent, field, rollup } of rollupsOver(needs.catalog, child)) {
    const parentIds = new Set(rows.map((row) => row[rollup.reference] ?? null));
    for (const id of parentIds) if (id !== null) refresh(needs.database, parent, field, rollup, String(id), stamp);
  }
}

/** True if some object sums up records of this one. */
export function hasRollups(catalog: Catalog, child: SObject): boolean {
  return rollupsOver(catalog, child).length > 0;
}

const known = new WeakMap<SObject, readonly ParentRollup[]>();

function rollupsOver(catalog: Catalog, child: SObject): readonly ParentRollup[] {
  const cached = known.get(child);
  if (cached) return cached;
  const found = catalog.objects.flatMap((parent) =>
    parent.fields.flatMap((field) =>
      field.rollup?.child === child.name ? [{ parent, field, rollup: field.rollup }] : [],
    ),
  );
  known.set(child, found);
  return found;
}

function refresh(database: Database, parent: SObject, field: Field, rollup: Rollup, id: string, stamp: string): void {
  const of = rollup.field === null ? "*" : quoted(rollup.field);
  const value = `(SELECT ${rollup.operation}(${of}) FROM ${quoted(rollup.child)} WHERE ${quoted(rollup.reference)} = ?1 AND "IsDeleted" = 0)`;
  const column = quoted(field.name);
  const sql = `UPDATE ${quoted(parent.name)} SET ${column} = ${value}, "SystemModstamp" = max("SystemModstamp", ?2) WHERE "Id" = ?1 AND ${column} IS NOT ${value}`;
  database.run(sql, id, stamp);
}
