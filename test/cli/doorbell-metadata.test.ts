import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { doorbellFiles } from "../../lib/cli/doorbell-metadata.ts";
import { child, type Element, parseXml } from "../../lib/local/org/soap/xml.ts";

const FILES = doorbellFiles({
  url: "https://bridge.example.com/ring/ws_1/ring_abc",
  objects: ["Contact", "Invoice__c"],
  user: "o'neil&co@example.com",
  apiVersion: "66.0",
});

/** The types of the Metadata API as Salesforce publishes them, made from its WSDL. */
const PUBLISHED = readFileSync(
  createRequire(import.meta.url)
    .resolve("@salesforce/types/metadata")
    .replace(/js$/, "d.ts"),
  "utf8",
);

interface Field {
  readonly type: string;
  readonly isList: boolean;
  readonly isNeeded: boolean;
}

/** The fields of a published type, those of what it extends included. */
function fieldsOf(type: string): ReadonlyMap<string, Field> {
  const [, base, body = ""] =
    new RegExp(`^export type ${type} = (?:(\\w+)(?: & |;))?(?:\\{([^}]*)\\})?`, "m").exec(PUBLISHED) ?? [];
  const own = [...body.matchAll(/^ {4}(\w+)(\??): ([\w']+)(\[\])?;$/gm)].map(
    ([, name = "", optional, of = "", list]) =>
      [name, { type: of, isList: list !== undefined, isNeeded: optional === "" && list === undefined }] as const,
  );
  return new Map([...(base ? fieldsOf(base) : []), ...own]);
}

/** What of an element's content Salesforce's type does not take, by path. */
function complaints(type: string, content: unknown, path: string): readonly string[] {
  const words = new RegExp(`^export type ${type} = ('.*');$`, "m").exec(PUBLISHED)?.[1]?.match(/[^' |]+/g);
  if (words) return words.includes(String(content)) ? [] : [`${path}: ${content} is no ${type}`];
  if (type === "string") return typeof content === "string" && content !== "" ? [] : [`${path} is no text`];
  if (type === "number") return Number.isFinite(Number(content)) ? [] : [`${path} is no number`];
  if (type === "boolean") return ["true", "false"].includes(String(content)) ? [] : [`${path} is no boolean`];
  const fields = fieldsOf(type);
  if (fields.size === 0) return [`${path}: Salesforce publishes no ${type}`];
  const given = Object.entries(content as object);
  const missing = [...fields].filter(([name, { isNeeded }]) => isNeeded && !given.some(([one]) => one === name));
  return [
    ...missing.map(([name]) => `${path}.${name} is missing`),
    ...given.flatMap(([name, value]) => {
      const field = fields.get(name);
      if (!field) return [`${path}.${name}: ${type} has no such field`];
      const values: readonly unknown[] = [value].flat();
      if (values.length > 1 && !field.isList) return [`${path}.${name} is there ${values.length} times`];
      return values.flatMap((one) => complaints(field.type, one, `${path}.${name}`));
    }),
  ];
}

/** A file's root element, without what is between elements. */
const parsed = (path: string, root: string): Element => withoutBlanks(child(parseXml(FILES.get(path) ?? ""), root));

function withoutBlanks(element: Element): Element {
  if (typeof element === "string") return element;
  const parts = Object.entries(element).filter(([name]) => !name.startsWith("#"));
  return Object.fromEntries(
    parts.map(([name, part]) => [name, Array.isArray(part) ? part.map(withoutBlanks) : withoutBlanks(part as Element)]),
  );
}

describe("the metadata that makes an org ring", () => {
  test("is a package, and a flow and an outbound message of each object, at the places of the Metadata API", () => {
    expect([...FILES.keys()]).toEqual([
      "package.xml",
      "workflows/Contact.workflow",
      "workflows/Invoice__c.workflow",
      "flows/Bridge_Doorbell_Contact.flow",
      "flows/Bridge_Doorbell_Invoice_c.flow",
    ]);
    for (const file of FILES.values()) expect(file).toContain(' xmlns="http://soap.sforce.com/2006/04/metadata">');
    expect(parsed("package.xml", "Package")).toEqual({
      types: [
        { members: ["Bridge_Doorbell_Contact", "Bridge_Doorbell_Invoice_c"], name: "Flow" },
        { members: ["Contact.Bridge_Doorbell", "Invoice__c.Bridge_Doorbell"], name: "WorkflowOutboundMessage" },
      ],
      version: "66.0",
    });
  });

  test("is exactly what Salesforce's published types take", () => {
    const found = [...FILES].flatMap(([path, text]) => {
      const [root = ""] = /(?<=<)[A-Z]\w+/.exec(text) ?? [];
      return complaints(root, parsed(path, root), path);
    });

    expect(found).toEqual([]);
  });

  test("rings after each save, with ids alone and without a session, at the URL of the object", () => {
    expect(child(parsed("workflows/Invoice__c.workflow", "Workflow"), "outboundMessages")).toMatchObject({
      fullName: "Bridge_Doorbell",
      endpointUrl: "https://bridge.example.com/ring/ws_1/ring_abc?object=Invoice__c",
      fields: "Id",
      includeSessionId: "false",
    });
    expect(FILES.get("workflows/Contact.workflow")).toContain(
      "<integrationUser>o'neil&#38;co@example.com</integrationUser>",
    );
    expect(parsed("flows/Bridge_Doorbell_Contact.flow", "Flow")).toMatchObject({
      actionCalls: { actionName: "Contact.Bridge_Doorbell", actionType: "outboundMessage" },
      start: { object: "Contact", recordTriggerType: "CreateAndUpdate", triggerType: "RecordAfterSave" },
      status: "Active",
    });
  });
});
