import type { FailureDetail } from "../model/failure.ts";
import type { Mapping } from "../model/mapping.ts";
import type { Entry } from "./document.ts";
import type { OrgField, OrgObject } from "./org.ts";

interface Spelled {
  readonly names: {
    readonly sfObject: string;
    readonly fields: readonly string[];
    readonly upsertField: string | null;
  };
  readonly problems: readonly FailureDetail[];
}

/** Types that no column holds: compounds have parts that can be mapped, files have no place in a row. */
const UNMAPPABLE: Readonly<Record<string, string>> = {
  address: "is a compound field: map its parts",
  location: "is a compound field: map its parts",
  complexvalue: "has no value that a column could hold",
  base64: "holds a file, which a column cannot",
};

/**
 * An entry's names as the org spells them, or what the org says against them. Without a description (`object` is null)
 * an existing mapping's names are taken as known, and a new one's object does not exist.
 */
export function spellNames(entry: Entry, mapping: Mapping | null, object: OrgObject | null): Spelled {
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
  const problems = [
    ...(object.queryable ? [] : [{ path: `${entry.path}.object_name`, message: "cannot be queried" }]),
    ...wanted.flatMap((name) => fieldProblems(entry, name, byName.get(name.toLowerCase()))),
    ...upsertProblems(entry, wanted, byName),
  ];
  const spell = (name: string) => byName.get(name.toLowerCase())?.name ?? name;
  const names = {
    ...asWritten,
    fields: wanted.map(spell).toSorted(),
    upsertField: entry.upsertField === null ? null : spell(entry.upsertField),
  };
  return { names, problems };
}

function fieldProblems({ path }: Entry, name: string, field: OrgField | undefined): readonly FailureDetail[] {
  const message = field ? UNMAPPABLE[field.type] : "is no field of this object that the connected org's user can see";
  return message === undefined ? [] : [{ path: `${path}.config.fields.${name}`, message }];
}

function upsertProblems(
  { path, upsertField }: Entry,
  fields: readonly string[],
  byName: ReadonlyMap<string, OrgField> | null,
): readonly FailureDetail[] {
  if (upsertField === null) return [];
  const at = `${path}.config.upsert_field`;
  const wanted = upsertField.toLowerCase();
  if (!fields.some((name) => name.toLowerCase() === wanted))
    return [{ path: at, message: "must be one of the fields" }];
  const field = byName?.get(wanted);
  if (!field || field.externalId || field.idLookup) return [];
  return [{ path: at, message: "must be an external id of the object" }];
}
