import type { Answer, Style } from "../soql/render.ts";
import { escaped, tag } from "./xml.ts";

/** How SOAP writes records: as text, each with its type and id in front. */
export const soapStyle: Style = {
  head: (type, id) => ({ "@type": type, "@id": id }),
  value: (field, stored) => {
    if (field.type === "boolean") return stored === 1 ? "true" : "false";
    if (field.type === "address" && stored !== null) return { "@address": JSON.parse(String(stored)) as Answer };
    if (typeof stored === "number" && field.type !== "int" && Number.isInteger(stored)) return stored.toFixed(1);
    return stored === null ? null : String(stored);
  },
  children: (records) => ({ "@children": records }),
};

/** A record as XML: type, Id, then the fields in the order of the query; a selected Id appears twice, another is nil (salesforce-facts 7). */
export function recordXml(name: string, answer: Answer): string {
  const { "@type": type, "@id": _, ...fields } = answer;
  const { Id: id } = fields;
  const parts = Object.entries(fields).map(([field, value]) => partXml(`sf:${field}`, value));
  return `<${name} xsi:type="sf:sObject">${tag("sf:type", String(type))}${tag("sf:Id", typeof id === "string" ? id : null)}${parts.join("")}</${name}>`;
}

function partXml(name: string, value: unknown): string {
  if (value === null || value === undefined) return `<${name} xsi:nil="true"/>`;
  if (typeof value !== "object") return `<${name}>${escaped(String(value))}</${name}>`;
  const answer = value as Answer;
  if ("@children" in answer) return childrenXml(name, answer["@children"] as Answer[]);
  if ("@address" in answer)
    return addressXml(name, answer["@address"] as Readonly<Record<string, string | number | null>>);
  return recordXml(name, answer);
}

/** The WSDL's order: a location first, then the parts of the address by name. */
const ADDRESS_PARTS = [
  "latitude",
  "longitude",
  "city",
  "country",
  "countryCode",
  "geocodeAccuracy",
  "postalCode",
  "state",
  "stateCode",
  "street",
];

function addressXml(name: string, parts: Readonly<Record<string, string | number | null>>): string {
  return `<${name} xsi:type="address">${ADDRESS_PARTS.map((part) => tag(part, parts[part] ?? null)).join("")}</${name}>`;
}

function childrenXml(name: string, records: readonly Answer[]): string {
  const inner = records.map((record) => recordXml("records", record)).join("");
  return `<${name} xsi:type="QueryResult"><done>true</done><queryLocator xsi:nil="true"/>${inner}<size>${records.length}</size></${name}>`;
}
