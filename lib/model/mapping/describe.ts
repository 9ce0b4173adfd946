import { Failure } from "../failure.ts";
import { askedIndexes } from "./asked-indexes.ts";
import { type FieldType, isMappable } from "./field-type.ts";
import { parseFilter, renderFilter } from "./filter.ts";
import type { Mapping } from "./mapping.ts";
import { type ParentKey, type ParentPath, parentFieldName, parentOf, parentPathOf } from "./parent-key.ts";
import { lackingFields } from "./required-fields.ts";
import type { Column, TableShape } from "./shape.ts";

/** What Salesforce's describe says about a field, as far as a mapping asks. */
export interface DescribedField {
  readonly name: string;
  readonly type: string;
  readonly length: number;
  readonly precision: number;
  readonly scale: number;
  readonly digits: number;
  readonly createable: boolean;
  readonly updateable: boolean;
  readonly nillable: boolean;
  readonly defaultedOnCreate: boolean;
  readonly filterable: boolean;
  readonly externalId: boolean;
  readonly idLookup: boolean;
  readonly unique: boolean;
  readonly referenceTo: readonly string[];
  /** A lookup's way to its parent, `Account`; null: it is no lookup, or has none. */
  readonly relationshipName: string | null;
}

export interface DescribedObject {
  readonly name: string;
  readonly queryable: boolean;
  readonly fields: readonly DescribedField[];
}

/** Fields that every mapping has and that are no columns of their own. */
const OWN_FIELDS = new Set(["id", "systemmodstamp", "isdeleted"]);

/**
 * The table that a mapping asks for, by what the org says about the object. Refuses, with the remedy, a field that is
 * gone or cannot be mapped, an upsert field that cannot identify records, an object that cannot be followed. `parents`
 * are the objects that `parentsOf` names.
 */
export function shapeOf(
  mapping: Mapping,
  object: DescribedObject,
  schema: string,
  parents: readonly DescribedObject[] = [],
): TableShape {
  const fields = new Map(object.fields.map((field) => [field.name.toLowerCase(), field]));
  refuseUnfollowable(object, fields);
  const names = mapping.fields.filter((name) => !OWN_FIELDS.has(name.toLowerCase()));
  const upsertField = upsertFieldOf(mapping, fields);
  const lacking = lackingFields(mapping, object);
  const mapped = upsertField && !names.includes(upsertField.name) ? [...names, upsertField.name] : names;
  const columns = mapped.map((name) => columnOf(object, fields.get(name.toLowerCase()), name, parents)).sort(byColumn);
  const indexes = indexesOf(mapping, fields, columns);
  return {
    mappingId: mapping.id,
    configVersion: mapping.configVersion,
    schema,
    table: mapping.pgTable,
    sfObject: object.name,
    direction: mapping.syncDirection,
    conflictPolicy: mapping.conflictPolicy,
    capture: mapping.capture,
    deleteLimit: mapping.deleteLimit,
    columns,
    upsertField: upsertField?.name ?? null,
    ...(upsertField?.unique === false && { repeatsUpsertValues: true as const }),
    ...(indexes.length > 0 && { indexes }),
    ...(lacking.length > 0 && { lacking }),
    filter: mapping.filter === null ? null : renderFilter(parseFilter(mapping.filter), fields),
    softDeletes: fields.has("isdeleted"),
    ...(fields.get("lastmodifiedbyid")?.filterable && { namesWriter: true as const }),
  };
}

/** The indexes that the mapping asks for; where several records may share a value, rows may. */
function indexesOf(
  mapping: Mapping,
  fields: ReadonlyMap<string, DescribedField>,
  columns: readonly Column[],
): NonNullable<TableShape["indexes"]> {
  const asked = askedIndexes(mapping);
  return columns.flatMap(({ column }) => {
    const isUnique = asked.get(column);
    return isUnique === undefined ? [] : [{ column, unique: isUnique && fields.get(column)?.unique === true }];
  });
}

/** Objects by whose external ids rows with these fields name their parents; all that a lookup points to. */
export function parentsOf(fields: readonly string[], object: DescribedObject): string[] {
  const own = new Set(object.fields.map(({ name }) => name.toLowerCase()));
  const paths = fields.filter((name) => !own.has(name.toLowerCase())).map((name) => pathIn(object, name));
  return [...new Set(paths.flatMap((path) => path?.lookup.referenceTo ?? []))];
}

const pathIn = ({ fields }: DescribedObject, name: string) => parentPathOf(name, fields);

function refuseUnfollowable(object: DescribedObject, fields: ReadonlyMap<string, DescribedField>): void {
  if (!object.queryable) throw new Failure("VALIDATION_ERROR", `${object.name} cannot be queried; map another object`);
  if (!fields.get("systemmodstamp")?.filterable) {
    throw new Failure(
      "VALIDATION_ERROR",
      `${object.name} has no SystemModstamp to filter by, so its changes cannot be followed; map another object`,
    );
  }
}

function upsertFieldOf({ upsertField }: Mapping, fields: ReadonlyMap<string, DescribedField>): DescribedField | null {
  if (upsertField === null || upsertField.toLowerCase() === "id") return null;
  const field = fields.get(upsertField.toLowerCase());
  if (field && (field.externalId || field.idLookup)) return field;
  const trouble = field ? "is no external id" : "is not there, or not for our user";
  throw new Failure("VALIDATION_ERROR", `the upsert field ${upsertField} ${trouble}; choose an external id field`);
}

function columnOf(
  object: DescribedObject,
  field: DescribedField | undefined,
  name: string,
  parents: readonly DescribedObject[],
): Column {
  if (!field) {
    const path = pathIn(object, name);
    if (path) return parentColumn(object, name, path, parents);
    throw new Failure(
      "VALIDATION_ERROR",
      `${object.name} has no field ${name}, or our user may not see it; remove it from the mapping or grant it`,
    );
  }
  if (!isMappable(field.type)) {
    throw new Failure("VALIDATION_ERROR", `${object.name}.${name} is of type ${field.type}, which no column can hold`);
  }
  return columnFrom(field, field.type);
}

function columnFrom(field: DescribedField, type: FieldType): Column {
  return {
    field: field.name,
    column: field.name.toLowerCase(),
    type,
    length: field.length,
    precision: field.type === "int" ? field.digits : field.precision,
    scale: field.scale,
    createable: field.createable,
    updateable: field.updateable,
    nillable: field.nillable,
    referenceTo: field.referenceTo,
  };
}

/** A parent's key has the type that the parent gives it, and is written where the lookup can be. */
function parentColumn(
  object: DescribedObject,
  name: string,
  { lookup, relationship, field }: ParentPath<DescribedField>,
  parents: readonly DescribedObject[],
): Column {
  const target = parentOf(lookup);
  const parent = parents.find((one) => one.name === target);
  const key = parent?.fields.find((one) => one.name.toLowerCase() === field.toLowerCase());
  if (!parent || !key || !isParentKey(key) || !isMappable(key.type)) {
    const trouble =
      target === null ? `${lookup.name} points to several objects` : `${target} has no external id ${field}`;
    throw new Failure(
      "VALIDATION_ERROR",
      `${object.name}.${name} names no parent: ${trouble}; remove it from the mapping`,
    );
  }
  const named: ParentKey = { reference: lookup.name, relationship, object: parent.name, field: key.name };
  const { createable, updateable, nillable } = lookup;
  const fieldName = parentFieldName(named);
  const column = { ...columnFrom(key, key.type), createable, updateable, nillable, referenceTo: [] };
  return { ...column, field: fieldName, column: fieldName.toLowerCase(), parent: named };
}

/** Whether a parent can be named by this field of its own. */
export const isParentKey = ({ externalId, type }: Pick<DescribedField, "externalId" | "type">): boolean =>
  externalId && type !== "id";

const byColumn = (one: Column, other: Column) => (one.column < other.column ? -1 : 1);

/** Compounds have parts that can be mapped, files have no place in a row. */
const UNMAPPABLE: Readonly<Record<string, string>> = {
  address: "is a compound field: map its parts",
  location: "is a compound field: map its parts",
  complexvalue: "has no value that a column could hold",
  base64: "holds a file, which a column cannot",
};

/** Why no column can hold a field of this type; null: one can. */
export const whyUnmappable = (type: string): string | null =>
  isMappable(type) ? null : (UNMAPPABLE[type] ?? `is of type ${type}, which no column can hold`);
