import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { elementsIn, type XmlElement } from "../xml-elements.ts";
import { answerOf, expectStated, type Found } from "./compare.ts";
import { openStandIn } from "./embedded-org.ts";
import { asShape, shapeDifferences } from "./shapes.ts";

const contact = (fields: string) => `<sObjects><type>Contact</type>${fields}</sObjects>`;

test("saves by SOAP are answered as orgs answer them, but for what is stated", async () => {
  const { org, deletedId } = await openStandIn();
  const key = "<externalIDFieldName>External_Id__c</externalIDFieldName>";
  const strange = "<AccountId>001000000000000AAA</AccountId><LastName>A</LastName>";
  const keyed = "<External_Id__c>k</External_Id__c><LastName>A</LastName>";
  const asked = [
    ["SOAP create", "create: done", `<create>${contact("<LastName>A</LastName>")}</create>`],
    ["SOAP create, refused", "create: refused, without fields", `<create>${contact(strange)}</create>`],
    ["SOAP upsert", "upsert: one made, one found", `<upsert>${key}${contact(keyed)}</upsert>`],
    ["SOAP delete, refused", "delete: refused, without fields", `<delete><ids>${deletedId}</ids></delete>`],
  ] as const;
  const found: Found[] = [];
  for (const [request, name, body] of asked) {
    const { text } = await org.soap(body);
    found.push([request, shapeDifferences(partOf(answerOf("soap", name).text, "Body"), partOf(text, "Body"))]);
  }

  expectStated(found);
});

test("the count of calls is in the header of SOAP as in an org's", async () => {
  const { org } = await openStandIn();
  const theirs = answerOf("soap", "update: a locked record, with the count of calls").text;

  const { text } = await org.soap(`<create>${contact("<LastName>A</LastName>")}</create>`);

  expectStated([["SOAP header", shapeDifferences(partOf(theirs, "Header"), partOf(text, "Header"))]]);
});

test("a fault has the parts, the code and the status of an org's", async () => {
  const { org } = await openStandIn();
  const theirs = answerOf("soap", "a fault: the session has ended");
  org.token = "00Dx!no";

  const { text, status } = await org.soap("<getUserInfo/>");

  const differences = shapeDifferences(partOf(theirs.text, "Body"), partOf(text, "Body"));
  expectStated([["SOAP with a session that has ended", differences]]);
  expect(status).toBe(theirs.status);
  expect(text).toContain("<faultcode>sf:INVALID_SESSION_ID</faultcode>");
});

test("an outbound message has the parts and namespaces of an org's, but for what is stated", async () => {
  const { org } = await openStandIn();
  const came = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => {
      body += piece.toString();
    });
    request.on("end", () => {
      response.end(answerOf("outbound", "the acknowledgement that ends it").text);
      came.resolve(body);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ring`;
  await org.call("PUT", "/_sim/outbound", { messages: [{ object: "Account", url }] });
  await org.create("Account", { Name: "Rings" });

  const [theirs, ours] = [answerOf("outbound", OUTBOUND).text, await came.promise].map((text) => elementsIn(text));

  const parts = (root: XmlElement | undefined) => namesIn(root).filter((name) => !/__c$|sobject.*:Name$/.test(name));
  expectStated([["an outbound message", missing(parts(theirs), parts(ours))]]);
});

const OUTBOUND = "an outbound message with the fields of a custom object";

/** All elements with their namespaces. */
const namesIn = (root: XmlElement | undefined): readonly string[] =>
  root === undefined ? [] : [`${root.namespace}:${root.name}`, ...root.children.flatMap(namesIn)];

const missing = (theirs: readonly string[], ours: readonly string[]): readonly string[] => {
  const lacks = theirs.filter((name) => !ours.includes(name)).map((name) => name.split(":").at(-1));
  return lacks.length > 0 ? [`lacks ${lacks.join(", ")}`] : [];
};

const partOf = (xml: string, name: string): unknown => {
  const part = elementsIn(xml).children.find((child) => child.name === name);
  return part ? asShape(part) : null;
};
