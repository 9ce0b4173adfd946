import type { Answer, Style } from "../soql/render.ts";
import { escaped, tag } from "./xml.ts";

/** How SOAP writes records: as text, each with its type and id in front. */
export const soapStyle: Style = {
  head: (type, id) => ({ "@type": type, "@id": id }),
  value: (field, stored) => {
    if (field.type === "boolean") return stored === 1 ? "true" : "false";
    if (field.type === "address" && stored !== null) return { "@address": JSON.parse(String(stored)) as Answer };
    return stored === null ? null : String(stored);
  },
  children: (records) => ({ "@children": records }),
};

/** A record as XML: type, Id, then the fields in the order of the query; a selected Id appears twice (reference 7). */
export function recordXml(name: string, answer: Answer): string {
  const { "@type": type, "@id": id, ...fields } = answer;
  const parts = Object.entries(fields).map(([field, value]) => partXml(`sf:${field}`, value));
  return `<${name} xsi:type="sf:sObject">${tag("sf:type", String(type))}${tag("sf:Id", typeof id === "string" ? id : null)}${parts.join("")}</${name}>`;
}

function partXml(name: string, value: unknown): string {
  if (value === null || value === undefined) return `<${name} xsi:nil="true"/>`;
  if (typeof value !== "object") return `<${name}>${escaped(String(value))}</${name}>`;
  const answer = value as Answer;
  if ("@children" in answer) return childrenXml(name, answer["@children"] as Answer[]);
  if ("@address" in answer) {
    const parts = Object.entries(answer["@address"] as Answer).map(([part, text]) =>
      text === null ? "" : tag(part, String(text)),
    );
    return `<${name} xsi:type="address">${parts.join("")}</${name}>`;
  }
  return recordXml(name, answer);
}

function childrenXml(name: string, records: readonly Answer[]): string {
  const inner = records.map((record) => recordXml("records", record)).join("");
  return `<${name} xsi:type="QueryResult"><done>true</done><queryLocator xsi:nil="true"/>${inner}<size>${records.length}</size></${name}>`;
}
