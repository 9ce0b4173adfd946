import { describe, describeBriefly } from "../metadata/describe.ts";
import type { SObject } from "../metadata/sobject.ts";
import { objectNamed } from "./reads.ts";
import type { SoapCall } from "./soap-call.ts";
import { recordXml, soapStyle } from "./soap-style.ts";
import { child, children, escaped, tag, textOf } from "./xml.ts";

/** What REST's describe has and the WSDL does not. */
const REST_ONLY = new Set([
  "urls",
  "extendedBy",
  "extendsInterfaces",
  "sobjectDescribeOption",
  "listviewable",
  "lookupLayoutable",
]);

/** `describeSObject(sObjectType)` and `describeSObjects(sObjectType[])`. */
export function describeSObjects(call: SoapCall): string {
  const names = [...children(call.input, "sObjectType"), ...children(call.input, "sObjectTypes")].map((name) =>
    textOf(name).trim(),
  );
  return names.map((name) => `<result>${fullXml(call, objectNamed(call, name))}</result>`).join("");
}

function fullXml({ parts, version, origin }: SoapCall, object: SObject): string {
  const page = `${origin}/${object.keyPrefix}`;
  const addresses = { urlDetail: `${origin}/{ID}`, urlEdit: `${origin}/{ID}/e`, urlNew: `${page}/e` };
  return objectXml({ ...describe(parts.catalog, object, version), ...addresses });
}

/** `describeGlobal()`. */
export function describeGlobal(call: SoapCall): string {
  const sobjects = call.parts.catalog.objects.map(
    (object) => `<sobjects>${objectXml(describeBriefly(object, call.version))}</sobjects>`,
  );
  return `<result>${tag("encoding", "UTF-8")}${tag("maxBatchSize", 200)}${sobjects.join("")}</result>`;
}

/** An object's own properties are all there in the WSDL, nil where they have no value; those of its parts are left out. */
function objectXml(described: object): string {
  return sorted({ ...described, idEnabled: true })
    .map(([name, value]) => (value === null ? `<${name} xsi:nil="true"/>` : partXml(name, value)))
    .join("");
}

function valueXml(value: object): string {
  return sorted(value)
    .map(([name, part]) => partXml(name, part))
    .join("");
}

/** The WSDL orders everything by name, capitals first. */
function sorted(value: object): [string, unknown][] {
  return Object.entries(value)
    .filter(([name]) => !REST_ONLY.has(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function partXml(name: string, part: unknown): string {
  if (part === null || part === undefined) return "";
  if (Array.isArray(part)) return part.map((entry) => partXml(name, entry)).join("");
  return typeof part === "object"
    ? `<${name}>${valueXml(part)}</${name}>`
    : `<${name}>${escaped(String(part))}</${name}>`;
}

/** `retrieve(fieldList, sObjectType, ids[])`: records in the order asked for, nil where there is none. */
export function retrieve(call: SoapCall): string {
  const object = objectNamed(call, textOf(child(call.input, "sObjectType")).trim());
  const ids = children(call.input, "ids").map((id) => textOf(id).trim());
  const soql = `SELECT Id, ${textOf(child(call.input, "fieldList"))} FROM ${object.name} WHERE Id IN (${ids.map((id) => `'${id}'`).join(", ")})`;
  const withoutRepeat = soql.replace(/^SELECT Id, (?=.*\bId\b.*\sFROM\s)/i, "SELECT ");
  const { records } = call.parts.queries.first(withoutRepeat, {
    includeDeleted: false,
    batchSize: 2000,
    style: soapStyle,
  });
  const byId = new Map(records.map((record) => [String(record["@id"]).slice(0, 15), record]));
  return ids
    .map((id) => {
      const record = byId.get(id.slice(0, 15));
      return record ? recordXml("result", record) : '<result xsi:nil="true"/>';
    })
    .join("");
}
