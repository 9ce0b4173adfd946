import * as z from "zod/mini";
import type { SealedWorkspace } from "../access/ports.ts";
import { listedObject, type Org, type OrgField, type OrgObject } from "../config/org-ports.ts";
import { columnType } from "../model/mapping/column-type.ts";
import { isParentKey } from "../model/mapping/describe.ts";
import { isMappable } from "../model/mapping/field-type.ts";
import { parseFilter, renderFilter } from "../model/mapping/filter.ts";
import { parentFieldName, parentOf } from "../model/mapping/parent-key.ts";
import { toSnakeCase } from "../model/snake-case.ts";

/** A field of an object, for pickers. */
const fieldView = z.object({
  name: z.string(),
  label: z.string(),
  type: z.string(),
  length: z.int(),
  precision: z.int(),
  scale: z.int(),
  required: z.boolean(),
  createable: z.boolean(),
  updateable: z.boolean(),
  external_id: z.boolean(),
  unique: z.boolean(),
  calculated: z.boolean(),
  mappable: z.boolean(),
  pg_type: z.nullable(z.string()),
  filterable: z.boolean(),
  reference_to: z.array(z.string()),
  parent_keys: z.array(z.object({ name: z.string(), object: z.string(), label: z.string() })),
});

/** `matching`: records in the filter that was asked about; null: none was, or Salesforce does not count them in time. */
export const objectWithFields = z.extend(listedObject, { fields: z.array(fieldView), matching: z.nullable(z.int()) });

type ObjectWithFields = z.infer<typeof objectWithFields>;

/** Parents that one request asks about. */
const MOST_PARENTS = 25;

interface Needs {
  readonly org: Org;
  /** Records of an object that meet a condition of SOQL; null: Salesforce does not count them in time. */
  readonly countRecords: (workspaceId: string, object: string, condition: string) => Promise<number | null>;
}

/**
 * One object for pickers, with `parents` the keys of the objects, too, that its lookups point to, and with `filter` the
 * number of its records. Null: the connection's user sees no such object.
 */
export async function readCatalog(
  { org, countRecords }: Needs,
  workspace: SealedWorkspace,
  name: string,
  { parents, filter }: { readonly parents: boolean; readonly filter?: string | undefined },
): Promise<ObjectWithFields | null> {
  const understood = filter === undefined ? null : parseFilter(filter);
  const [object] = (await org.describe(workspace, [name])).values();
  if (!object) return null;
  const byName = new Map(object.fields.map((field) => [field.name.toLowerCase(), field]));
  const matching = understood && (await countRecords(workspace.id, object.name, renderFilter(understood, byName)));
  const wanted = parents ? parentsWanted(object) : [];
  const found = wanted.length > 0 ? await org.describe(workspace, wanted) : new Map<string, OrgObject>();
  return { ...viewOf(object, parents ? new Map([...found, [object.name, object]]) : found), matching };
}

/** Objects that lookups point to, other than the object itself. */
function parentsWanted({ name, fields }: OrgObject): readonly string[] {
  const targets = fields.flatMap((field) => (field.relationshipName === null ? [] : (parentOf(field) ?? [])));
  return [...new Set(targets)].filter((target) => target !== name).slice(0, MOST_PARENTS);
}

function viewOf({ fields, ...object }: OrgObject, parents: ReadonlyMap<string, OrgObject>) {
  return { ...object, fields: fields.map((field) => viewField(field, parents)) };
}

function viewField(field: OrgField, parents: ReadonlyMap<string, OrgObject>): z.infer<typeof fieldView> {
  const { type, createable, nillable, defaultedOnCreate, externalId } = field;
  return toSnakeCase(fieldView, {
    ...field,
    required: createable && !nillable && !defaultedOnCreate,
    externalId: externalId || type === "id",
    mappable: isMappable(type),
    pgType: isMappable(type) ? columnType(field) : null,
    parentKeys: parentKeys(field, parents),
  });
}

/** External ids of the one object that a lookup points to, as fields that a mapping may have. */
function parentKeys(field: OrgField, parents: ReadonlyMap<string, OrgObject>) {
  const { relationshipName: relationship } = field;
  const parent = parents.get(parentOf(field) ?? "");
  if (relationship === null || !parent) return [];
  return parent.fields.filter(isParentKey).map(({ name, label }) => ({
    name: parentFieldName({ relationship, field: name }),
    object: parent.name,
    label: `${parent.label}: ${label}`,
  }));
}
