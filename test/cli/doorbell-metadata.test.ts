import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, test } from "vitest";
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

/** The fields of a published type with their optional sign, type and list sign, those of what it extends included. */
function fieldsOf(type: string): ReadonlyMap<string, readonly string[]> {
  const [, base, body = ""] =
    new RegExp(`^export type ${type} = (?:(\\w+)(?: & |;))?(?:\\{([^}]*)\\})?`, "m").exec(PUBLISHED) ?? [];
  const own = [...body.matchAll(/^ {4}(\w+)(\??): ([\w']+)(\[\])?;$/gm)];
  return new Map([
    ...(base ? fieldsOf(base) : []),
    ...own.map(([, name = "", optional = "", of = "", list = ""]) => [name, [optional, of, list]] as const),
  ]);
}

/** What of an element's content Salesforce's type does not take, by path. */
function complaints(type: string, content: unknown, path: string): readonly string[] {
  const words = new RegExp(`^export type ${type} = ('.*');$`, "m").exec(PUBLISHED)?.[1]?.match(/[^' |]+/g);
  const simple: Readonly<Record<string, RegExp>> = { string: /./, number: /^[\d.]+$/, boolean: /^(true|false)$/ };
  if (words ?? simple[type]) {
    const isTaken = typeof content === "string" && (words?.includes(content) ?? simple[type]?.test(content));
    return isTaken ? [] : [`${path}: ${content} is no ${type}`];
  }
  const fields = fieldsOf(type);
  if (fields.size === 0) return [`${path}: Salesforce publishes no ${type}`];
  const given = content as Readonly<Record<string, unknown>>;
  const missing = [...fields].filter(([name, [optional, , list]]) => !optional && !list && given[name] === undefined);
  return [
    ...missing.map(([name]) => `${path}.${name} is missing`),
    ...Object.entries(given).flatMap(([name, value]) => {
      const [, of = "", list] = fields.get(name) ?? [];
      const values: readonly unknown[] = [value].flat();
      if (values.length > 1 && !list) return [`${path}.${name} is there ${values.length} times`];
      return values.flatMap((one) => complaints(of, one, `${path}.${name}`));
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

test("the metadata that makes an org ring is a package at the places of the Metadata API, of Salesforce's types", () => {
  expect([...FILES.keys()]).toEqual([
    "package.xml",
    "workflows/Contact.workflow",
    "workflows/Invoice__c.workflow",
    "flows/Bridge_Doorbell_Contact.flow",
    "flows/Bridge_Doorbell_Invoice_c.flow",
  ]);
  expect(parsed("package.xml", "Package")).toEqual({
    types: [
      { members: ["Bridge_Doorbell_Contact", "Bridge_Doorbell_Invoice_c"], name: "Flow" },
      { members: ["Contact.Bridge_Doorbell", "Invoice__c.Bridge_Doorbell"], name: "WorkflowOutboundMessage" },
    ],
    version: "66.0",
  });
  for (const [path, text] of FILES) {
    const [root = ""] = /(?<=<)[A-Z]\w+/.exec(text) ?? [];
    expect(text).toContain(' xmlns="http://soap.sforce.com/2006/04/metadata">');
    expect(complaints(root, parsed(path, root), path)).toEqual([]);
  }
});

test("it rings after each save, with ids alone and without a session, at the URL of the object", () => {
  expect(child(parsed("workflows/Invoice__c.workflow", "Workflow"), "outboundMessages")).toMatchObject({
    ...{ fullName: "Bridge_Doorbell", fields: "Id", includeSessionId: "false" },
    endpointUrl: "https://bridge.example.com/ring/ws_1/ring_abc?object=Invoice__c",
  });
  const user = "<integrationUser>o'neil&#38;co@example.com</integrationUser>";
  expect(FILES.get("workflows/Contact.workflow")).toContain(user);
  expect(parsed("flows/Bridge_Doorbell_Contact.flow", "Flow")).toMatchObject({
    actionCalls: { actionName: "Contact.Bridge_Doorbell", actionType: "outboundMessage" },
    start: { object: "Contact", recordTriggerType: "CreateAndUpdate", triggerType: "RecordAfterSave" },
    status: "Active",
  });
});
