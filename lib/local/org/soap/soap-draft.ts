import type { Catalog } from "../metadata/catalog.ts";
import { Refusal, unsupportedType } from "../refusal.ts";
import { type Draft, DraftReader } from "../saving/draft.ts";
import { child, children, type Element, hasParts, isNil, partsOf, textOf } from "./xml.ts";

const NOT_FIELDS = new Set(["type", "fieldsToNull", "Id"]);

/** A record from an sObject element. An unknown object or field is a fault of the whole request, as in Salesforce. */
export function draftOf(catalog: Catalog, element: Element): Draft {
  const type = textOf(child(element, "type")).trim();
  const object = catalog.find(type);
  if (!object) throw unsupportedType(type);
  const reader = new DraftReader(catalog, object);
  try {
    const id = textOf(child(element, "Id")).trim();
    if (id !== "") reader.id(id);
    for (const name of children(element, "fieldsToNull"))
      if (textOf(name).trim() !== "") reader.text(textOf(name).trim(), "");
    for (const [name, part] of partsOf(element)) readPart(reader, name, part);
  } catch (error) {
    throw asFault(error, object.name);
  }
  return reader.finish();
}

function readPart(reader: DraftReader, name: string, part: Element): void {
  if (NOT_FIELDS.has(name) || isNil(part)) return;
  if (!hasParts(part)) {
    const text = textOf(part);
    if (text !== "") reader.text(name, text);
    return;
  }
  const keys = partsOf(part).filter(([key]) => !NOT_FIELDS.has(key) || key === "Id");
  const [key] = keys;
  if (key) reader.link(name, key[0], textOf(key[1]));
}

/** SOAP's words for a field that is not there. */
function asFault(error: unknown, entity: string): unknown {
  if (!(error instanceof Refusal) || error.code !== "INVALID_FIELD") return error;
  const advice =
    "If you are attempting to use a custom field, be sure to append the '__c' after the custom field name. Please reference your WSDL or the describe call for the appropriate names.";
  return new Refusal("INVALID_FIELD", `No such column '${error.fields[0] ?? ""}' on entity '${entity}'. ${advice}`);
}
