import type { Catalog } from "../metadata/catalog.ts";
import type { SObject } from "../metadata/sobject.ts";
import { notFound, Refusal } from "../refusal.ts";
import { type Draft, DraftReader } from "../saving/draft.ts";
import { textOf } from "../text-of.ts";

/** A record from JSON. `id` is the path's; in collections it is the record's own `id`. Unknown fields throw INVALID_FIELD. */
export function draftOf(
  catalog: Catalog,
  object: SObject,
  body: Readonly<Record<string, unknown>>,
  id: string | "inBody" | null,
): Draft {
  const reader = new DraftReader(catalog, object);
  if (id !== null && id !== "inBody") reader.id(id);
  for (const [name, value] of Object.entries(body)) readPart(reader, object, name, value, id === "inBody");
  return reader.finish();
}

function readPart(reader: DraftReader, object: SObject, name: string, value: unknown, takesId: boolean): void {
  if (name.toLowerCase() === "attributes") return;
  if (name.toLowerCase() === "id") {
    if (takesId) reader.id(textOf(value));
    else
      throw new Refusal("INVALID_FIELD", "The Id field should not be specified in the sobject data.", {
        fields: ["Id"],
      });
    return;
  }
  const isParent = typeof value === "object" && value !== null && object.field(name) === undefined;
  if (!isParent) {
    reader.json(name, value);
    return;
  }
  const [key, ...others] = Object.entries(value).filter(([part]) => part.toLowerCase() !== "attributes");
  if (!key || others.length > 0)
    throw new Refusal("INVALID_FIELD", `A reference to ${name} takes exactly one key field`, { fields: [name] });
  reader.link(name, key[0], key[1]);
}

/** The object that a path names, or 404. */
export function objectAt(catalog: Catalog, name: string): SObject {
  const object = catalog.find(name);
  if (!object) throw notFound();
  return object;
}
