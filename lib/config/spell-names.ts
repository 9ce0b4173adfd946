import type { FailureDetail } from "../model/failure.ts";
import { whyUnmappable } from "../model/mapping/describe.ts";
import type { Mapping } from "../model/mapping/mapping.ts";
import { parentFieldName, parentOf, parentPathOf } from "../model/mapping/parent-key.ts";
import { didYouMean } from "../model/nearest.ts";
import type { Entry } from "./document.ts";
import type { OrgField, OrgObject } from "./org-ports.ts";

type Field = Pick<OrgField, "name" | "type" | "externalId" | "idLookup">;

interface Spelled {
  readonly names: {
    readonly sfObject: string;
    readonly fields: readonly string[];
    readonly upsertField: string | null;
  };
  readonly problems: readonly FailureDetail[];
}

/**
 * An entry's names as the org spells them, or what the org says against them. Without a description (`object` is null)
 * an existing mapping's names count as known, and a new one's object does not exist. `described` holds, by lower-case
 * name, the parents that a field may name.
 */
export function spellNames(
  entry: Entry,
  mapping: Mapping | null,
  object: OrgObject | null,
  described: ReadonlyMap<string, OrgObject>,
): Spelled {
  const wanted = entry.fields ?? mapping?.fields ?? [];
  const asWritten = {
    sfObject: object?.name ?? mapping?.sfObject ?? entry.objectName,
    fields: wanted.toSorted(),
    upsertField: entry.upsertField,
  };
  if (object === null) {
    const unknown = {
      path: `${entry.path}.object_name`,
      message: "is no object that the connected org's user can see",
    };
    return { names: asWritten, problems: mapping ? upsertProblems(entry, wanted, null) : [unknown] };
  }
  const byName = new Map(object.fields.map((field) => [field.name.toLowerCase(), field]));
  const fieldOf = (name: string) => byName.get(name.toLowerCase()) ?? parentField(name, object, described);
  const problems = [
    ...(object.queryable ? [] : [{ path: `${entry.path}.object_name`, message: "cannot be queried" }]),
    ...wanted.flatMap((name) => fieldProblems(entry, name, fieldOf(name), object)),
    ...upsertProblems(entry, wanted, fieldOf),
  ];
  const spell = (name: string) => fieldOf(name)?.name ?? name;
  const names = {
    ...asWritten,
    fields: [...new Set(wanted.map(spell))].toSorted(),
    upsertField: entry.upsertField === null ? null : spell(entry.upsertField),
  };
  return { names, problems };
}

/** A parent's external id as a field of the child; undefined: the name goes nowhere, or to nothing that names a parent. */
function parentField(name: string, object: OrgObject, described: ReadonlyMap<string, OrgObject>): Field | undefined {
  const path = parentPathOf(name, object.fields);
  const target = path && parentOf(path.lookup);
  if (!path || target === null) return undefined;
  const wanted = path.field.toLowerCase();
  const key = described.get(target.toLowerCase())?.fields.find((field) => field.name.toLowerCase() === wanted);
  if (!key?.externalId) return undefined;
  const field = parentFieldName({ relationship: path.relationship, field: key.name });
  // It names another record than the row's own.
  return { name: field, type: key.type, externalId: false, idLookup: false };
}

function fieldProblems(
  { path }: Entry,
  name: string,
  field: Field | undefined,
  { fields }: OrgObject,
): readonly FailureDetail[] {
  const missing = name.includes(".")
    ? "names no parent by an external id that the connected org's user can see"
    : `is no field of this object that the connected org's user can see${didYouMean(
        name,
        fields.map((one) => one.name),
      )}`;
  const message = field ? whyUnmappable(field.type) : missing;
  return message === null ? [] : [{ path: `${path}.config.fields.${name}`, message }];
}

function upsertProblems(
  { path, upsertField }: Entry,
  fields: readonly string[],
  fieldOf: ((name: string) => Field | undefined) | null,
): readonly FailureDetail[] {
  if (upsertField === null) return [];
  const at = `${path}.config.upsert_field`;
  const wanted = upsertField.toLowerCase();
  if (!fields.some((name) => name.toLowerCase() === wanted))
    return [{ path: at, message: "must be one of the fields" }];
  const field = fieldOf?.(upsertField);
  if (!field || field.externalId || field.idLookup) return [];
  return [{ path: at, message: "must be an external id of the object" }];
}
