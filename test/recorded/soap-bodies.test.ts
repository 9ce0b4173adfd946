import { afterAll, beforeAll, expect, test } from "vitest";
import type { Operation, OutgoingRecord } from "../../lib/model/record/record.ts";
import { openPlayer, type Player } from "./play.ts";
import { elementsIn, type XmlElement } from "./xml-elements.ts";

/**
 * What Salesforce's partner WSDL says of the bodies of saves (version 47.0, cnsdose/salesforce-php@1ea2523:wsdl/partner.wsdl.xml;
 * version 38.0 says the same): both schemas qualify their elements, so an operation and its parameters are in the first
 * namespace, and what is in a record is in the second. A record is `type`, any number of `fieldsToNull`, `Id`, and then
 * elements of its own namespace; a parent is a record in it.
 */
const WSDL = {
  partner: "urn:partner.soap.sforce.com",
  record: "urn:sobject.partner.soap.sforce.com",
  headers: ["SessionHeader", "CallOptions"],
  parameters: {
    create: ["sObjects"],
    update: ["sObjects"],
    upsert: ["externalIDFieldName", "sObjects"],
    delete: ["ids"],
    undelete: ["ids"],
  },
} as const satisfies {
  readonly parameters: Readonly<Record<Operation, readonly string[]>>;
  readonly [name: string]: unknown;
};

/**
 * Where the bodies that jsforce builds are in other namespaces, with what the WSDL says. Orgs accept them: jsforce's own
 * tests saved by them in real orgs (jsforce/jsforce#641).
 */
const DEVIATIONS = [
  ["externalIDFieldName", "urn:partner.soap.sforce.com", "sobject.partner.soap.sforce.com"],
  ["sObjects", "urn:partner.soap.sforce.com", "sobject.partner.soap.sforce.com"],
  ["ids", "urn:partner.soap.sforce.com", "sobject.partner.soap.sforce.com"],
  ["what is in a record", "urn:sobject.partner.soap.sforce.com", "urn:partner.soap.sforce.com"],
];

const ID = "001ak00000OQTieAAH";
const FULL: OutgoingRecord = {
  id: ID,
  values: { Name: "R&D <1>", Phone: null, Site: "a\r\nb", Fax: null },
  parents: [{ reference: "ParentId", relationship: "Parent", object: "Account", field: "External_Id__c", value: "k1" }],
};
const NEW: OutgoingRecord = { ...FULL, id: null };
const BARE: OutgoingRecord = { id: ID, values: {} };

const SENT: readonly (readonly [Operation, readonly OutgoingRecord[]])[] = [
  ["create", [NEW, { id: null, values: { Name: "Second" } }]],
  ["update", [FULL, BARE]],
  ["upsert", [NEW, FULL]],
  ["delete", [BARE, BARE]],
  ["undelete", [BARE]],
];

let player: Player;
let bodies: Map<Operation, XmlElement>;
beforeAll(async () => {
  player = await openPlayer();
  bodies = new Map();
  for (const [operation, records] of SENT) {
    const { bodies: sent } = await player.play({ ask: "save", operation, sent: records, text: "<html>" });
    bodies.set(operation, elementsIn(sent[0] ?? ""));
  }
});
afterAll(() => player.close());

function bodyOf(operation: Operation): { readonly headers: readonly XmlElement[]; readonly call: XmlElement } {
  const [header, body] = bodies.get(operation)?.children ?? [];
  const [call] = body?.children ?? [];
  if (!header || !call) throw new Error(`no ${operation} was sent`);
  return { headers: header.children, call };
}

const recordsIn = ({ children }: XmlElement) => children.filter(({ name }) => name === "sObjects");
const namesIn = ({ children }: XmlElement) => children.map(({ name }) => name);
const textsOf = (element: XmlElement | undefined, name: string) =>
  element?.children.filter((child) => child.name === name).map(({ text }) => text);

test.each(SENT.map(([operation]) => operation))(
  "the body of %s is the WSDL's, but for its stated namespaces",
  (name) => {
    const { headers, call } = bodyOf(name);

    expect(headers.map((header) => [header.name, header.namespace])).toEqual(
      WSDL.headers.map((header) => [header, WSDL.partner]),
    );
    expect([call.name, call.namespace]).toEqual([name, WSDL.partner]);
    expect([...new Set(namesIn(call))]).toEqual(WSDL.parameters[name]);
    for (const record of recordsIn(call)) {
      const names = namesIn(record);
      const ranks = names.map((one) => ["type", "fieldsToNull", "Id"].indexOf(one)).map((at) => (at < 0 ? 3 : at));

      expect(names[0]).toBe("type");
      expect(ranks).toEqual([...ranks].sort());
      expect(names.filter((one) => one === "Id").length).toBeLessThanOrEqual(1);
    }
    const found = call.children.flatMap((parameter) => [
      [parameter.name, WSDL.partner, parameter.namespace],
      ...everythingIn(parameter).map(({ namespace }) => ["what is in a record", WSDL.record, namespace]),
    ]);
    const deviations = found.filter(([, said, sent]) => said !== sent);
    for (const one of deviations) expect(DEVIATIONS).toContainEqual(one);
    for (const one of DEVIATIONS.filter(([what]) => found.some(([mentioned]) => mentioned === what)))
      expect(deviations).toContainEqual(one);
  },
);

const everythingIn = ({ children }: XmlElement): readonly XmlElement[] =>
  children.flatMap((child) => [child, ...everythingIn(child)]);

test("a cleared field is named before the id, a parent is a record in the record, and values are escaped", () => {
  for (const operation of ["create", "update", "upsert"] as const) {
    const [record] = recordsIn(bodyOf(operation).call);

    expect(textsOf(record, "fieldsToNull")).toEqual(["Phone", "Fax"]);
    expect(record && namesIn(record)).not.toContain("Phone");
  }
  const [record] = recordsIn(bodyOf("update").call);
  const parent = record?.children.find(({ name }) => name === "Parent");
  expect(parent && namesIn(parent)).toEqual(["type", "External_Id__c"]);
  expect(textsOf(parent, "External_Id__c")).toEqual(["k1"]);
  expect(textsOf(record, "Name")).toEqual(["R&amp;D &lt;1&gt;"]);
  expect(textsOf(record, "Site")).toEqual(["a&#13;\nb"]); // which a parser leaves as it is
});

test("a record without an id has no element for it: the WSDL has it once, nillable, and clients leave it out", () => {
  expect(recordsIn(bodyOf("create").call).flatMap(namesIn)).not.toContain("Id");
});
