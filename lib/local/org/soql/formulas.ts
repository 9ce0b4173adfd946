import type { Clock } from "../clock.ts";
import { evaluate, type Value } from "../formula/evaluate.ts";
import { pathsOf } from "../formula/parse-formula.ts";
import type { Catalog } from "../metadata/catalog.ts";
import type { Field } from "../metadata/field.ts";
import type { SObject } from "../metadata/sobject.ts";
import { formulaOf } from "../saving/check.ts";
import { fieldValue } from "../saving/scope.ts";
import type { Database, Stored } from "../store/database.ts";

/** The SQL function that computes a formula field from the columns it reads. */
export function formulaFunction(object: SObject, field: Field): string {
  return `formula_${object.name}_${field.name}`;
}

/** Makes every formula field computable in SQL, so that queries can select, filter and sort by it without a stored value. */
export function defineFormulas(database: Database, catalog: Catalog, clock: Clock): void {
  for (const object of catalog.objects) {
    for (const field of object.fields)
      if (field.formula !== null) defineFormula(database, catalog, clock, object, field, field.formula);
  }
}

function defineFormula(
  database: Database,
  catalog: Catalog,
  clock: Clock,
  object: SObject,
  field: Field,
  formula: string,
): void {
  const expression = formulaOf(formula);
  const inputs = pathsOf(expression).map((path) => ({
    key: path.join(".").toLowerCase(),
    type: fieldAt(catalog, object, path)?.type ?? "string",
  }));
  const places = new Map(inputs.map(({ key }, index) => [key, index]));
  database.define(formulaFunction(object, field), (...values) => {
    const read = (path: readonly string[]): Value => {
      const place = places.get(path.join(".").toLowerCase()) ?? -1;
      return fieldValue(values[place] ?? null, inputs[place]?.type ?? "string");
    };
    return storedValue(field, evaluate(expression, { now: clock.now(), isNew: false, read, prior: read }));
  });
}

function storedValue(field: Field, value: Value): Stored {
  if (field.type === "boolean") return value === true ? 1 : 0;
  if (typeof value === "boolean") return String(value);
  return value === "" ? null : value;
}

/** The field at the end of a formula's path. */
function fieldAt(catalog: Catalog, object: SObject, path: readonly string[]): Field | undefined {
  const [name = "", ...rest] = path;
  if (rest.length === 0) return object.field(name);
  const target = object.relationship(name)?.referenceTo[0];
  return target === undefined ? undefined : fieldAt(catalog, catalog.get(target), rest);
}
