import type { Scope, Value } from "../formula/evaluate.ts";
import type { Catalog } from "../metadata/catalog.ts";
import type { SObject } from "../metadata/sobject.ts";
import type { Row, Stored } from "../store/database.ts";
import type { Records } from "../store/records.ts";

/** Lets a formula read a row that is being saved, the row as it was, and their parents. */
export function rowScope(
  needs: { catalog: Catalog; records: Records },
  object: SObject,
  row: Row,
  prior: Row | null,
  now: Date,
): Scope {
  return {
    now,
    isNew: prior === null,
    read: (path) => readPath(needs, object, row, path),
    prior: (path) => readPath(needs, object, prior ?? row, path),
  };
}

function readPath(
  needs: { catalog: Catalog; records: Records },
  object: SObject,
  row: Row,
  path: readonly string[],
): Value {
  const [name = "", ...rest] = path;
  if (rest.length === 0) {
    const field = object.field(name);
    if (!field) throw new Error(`a formula of ${object.name} reads ${name}, which is not one of its fields`);
    return fieldValue(row[field.name] ?? null, field.type);
  }
  const reference = object.relationship(name);
  if (!reference)
    throw new Error(`a formula of ${object.name} reads ${path.join(".")}, but there is no relationship ${name}`);
  const id = row[reference.name];
  const parent = typeof id === "string" ? needs.catalog.ofId(id) : undefined;
  const parentRow = parent && typeof id === "string" ? needs.records.find(parent, id) : undefined;
  return parent && parentRow ? readPath(needs, parent, parentRow, rest) : null;
}

/** Checkboxes are kept as 0 and 1; formulas want booleans. */
export function fieldValue(stored: Stored, type: string): Value {
  return type === "boolean" ? stored === 1 : stored;
}
