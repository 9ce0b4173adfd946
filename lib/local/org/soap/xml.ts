import { XMLParser } from "fast-xml-parser";
import { Refusal } from "../refusal.ts";

/** An element of a request, namespaces ignored: clients disagree about them (salesforce-facts 7). */
export type Element = string | { readonly [name: string]: Element | readonly Element[] };

/** Elements that may come more than once. */
const LISTS = new Set(["sObjects", "ids", "fieldsToNull"]);

const parser = new XMLParser({
  removeNSPrefix: true,
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  processEntities: true,
  htmlEntities: true, // without it `&#228;` stays as it is
  isArray: (name, _path, _isLeaf, isAttribute) => !isAttribute && LISTS.has(name),
});

/** The header and the one operation of a SOAP envelope. */
export function parseEnvelope(xml: string): { header: Element; operation: string; input: Element } {
  const document = parseXml(xml);
  const envelope = child(document, "Envelope");
  const body = child(envelope, "Body");
  const entry =
    typeof body === "string"
      ? undefined
      : Object.keys(body).find((name) => !name.startsWith("@") && !name.startsWith("#"));
  if (entry === undefined) throw new Refusal("INVALID_SOAP_HEADER", "the envelope has no body", { status: 500 });
  return { header: child(envelope, "Header"), operation: entry, input: child(body, entry) };
}

/** A document as its elements; refuses what is no XML. */
export function parseXml(xml: string): Element {
  const bad = xml.match(NO_XML)?.[0];
  if (bad !== undefined) throw new Refusal("Client", noXml(bad), { status: 500 });
  try {
    return parser.parse(xml) as Element;
  } catch (error) {
    throw new Refusal("UNKNOWN_EXCEPTION", `the request is not XML: ${error instanceof Error ? error.message : ""}`, {
      status: 500,
    });
  }
}

// What XML 1.0 cannot carry, as it is or as a reference.
const NO_XML =
  /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]|&#(?:x0*(?:[0-8bcef]|1[0-9a-f]|fff[ef]|d[89a-f][0-9a-f]{2})|0*(?:[0-8]|1[124-9]|2\d|3[01]));/iu;

function noXml(bad: string): string {
  const code = bad.startsWith("&") ? bad.slice(2, -1) : (bad.codePointAt(0) ?? 0).toString(16);
  return `An invalid XML character (Unicode: 0x${code.replace(/^x/i, "")}) was found in the element content of the document.`;
}

/** The first child element of this name; an empty text if there is none. */
export function child(element: Element, name: string): Element {
  if (typeof element === "string") return "";
  const found = element[name];
  if (found === undefined) return "";
  return isList(found) ? (found[0] ?? "") : found;
}

/** All child elements of this name. */
export function children(element: Element, name: string): readonly Element[] {
  if (typeof element === "string") return [];
  const found = element[name];
  if (found === undefined) return [];
  return isList(found) ? found : [found];
}

function isList(value: Element | readonly Element[]): value is readonly Element[] {
  return Array.isArray(value);
}

/** The text inside of an element. */
export function textOf(element: Element): string {
  if (typeof element === "string") return element;
  const text = element["#text"];
  return typeof text === "string" ? text : "";
}

export function isNil(element: Element): boolean {
  return typeof element !== "string" && element["@nil"] === "true";
}

/** The names and contents of the child elements, lists as single elements, in order. */
export function partsOf(element: Element): [name: string, part: Element][] {
  if (typeof element === "string") return [];
  return Object.entries(element).flatMap(([name, value]): [string, Element][] => {
    if (name.startsWith("@") || name.startsWith("#")) return [];
    return isList(value) ? value.map((part): [string, Element] => [name, part]) : [[name, value]];
  });
}

/** True if the element holds other elements. */
export function hasParts(element: Element): boolean {
  return (
    typeof element !== "string" && Object.keys(element).some((name) => !name.startsWith("@") && !name.startsWith("#"))
  );
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\r": "&#13;",
};

/** What XML 1.0 has no way to write: control characters other than tab and line ends. */
const FORBIDDEN = /[^\t\n\r -\uFFFF]/g;

/** Text as XML has it, without the characters that XML forbids. */
export function escaped(text: string): string {
  return text.replace(FORBIDDEN, "").replace(/[&<>"\r]/g, (letter) => ESCAPES[letter] ?? letter);
}

/** `<name>text</name>`, nil for null. */
export function tag(name: string, value: string | number | boolean | null): string {
  return value === null
    ? `<${name} xsi:nil="true"/>`
    : `<${name}>${typeof value === "string" ? escaped(value) : value}</${name}>`;
}
