import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectOrg } from "../../../lib/adapters/salesforce/connect-org.ts";
import { SalesforceRefusal } from "../../../lib/model/change/refusal.ts";
import type { Salesforce } from "../../../lib/sync/ports/cycle-ports.ts";

const OTHER_JSON = { records: { secret: "value" }, deletedRecords: 7 };
const OTHER_XML = `<?xml version="1.0"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"
  xmlns="urn:partner.soap.sforce.com"><soapenv:Body><updateResponse><outcome>secret</outcome>
  </updateResponse></soapenv:Body></soapenv:Envelope>`;

let server: Server;
let salesforce: Salesforce;
beforeAll(async () => {
  server = createServer((request, response) => {
    const isSoap = request.url?.includes("/Soap/");
    response.setHeader("content-type", isSoap ? "text/xml" : "application/json");
    request.resume().on("end", () => response.end(isSoap ? OTHER_XML : JSON.stringify(OTHER_JSON)));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const to = { loginUrl: url, instanceUrl: url, organizationId: "", userId: "", formerUserIds: [], apiVersion: "66.0" };
  const credentials = { kind: "password", clientId: "", clientSecret: "", username: "", password: "" } as const;
  const connection = { ...to, credentials, accessToken: "00Dx!y" };
  const current = async () => connection;
  salesforce = connectOrg({ current, renew: current }, new AbortController().signal);
});
afterAll(() => {
  server.close();
});

const RECORD = { id: "003000000000001AAA", values: { LastName: "Curie" } };
const START = new Date("2026-11-20T12:00:00Z");

function refusalIn(error: unknown): SalesforceRefusal {
  if (!(error instanceof SalesforceRefusal)) throw new Error(`it was not refused, but: ${String(error)}`);
  expect(error.refusal).toMatchObject({ kind: "transient", code: "BROKEN_ANSWER", mayHaveRun: true });
  return error;
}

test.each([
  ["a query", "records, done", () => salesforce.query("SELECT Id FROM Contact")],
  ["a composite", "compositeResponse", () => salesforce.queryTogether(["SELECT Id FROM Contact"])],
  ["the record counts", "sObjects", () => salesforce.recordCount("Contact")],
  ["getDeleted", "deletedRecords", () => salesforce.deleted("Contact", START, START)],
  ["a describe", "name", () => salesforce.describe("Contact")],
  ["making a job of the Bulk API", "id, state", () => salesforce.startBulkQuery("SELECT Id FROM Contact")],
  ["the state of a job of the Bulk API", "id, state", () => salesforce.pollBulkSave("750000000000001AAA")],
])(
  "%s that is answered in another shape is a refusal that names the places and no value",
  async (asked, places, ask) => {
    const error = await ask().then(
      () => null,
      (thrown: unknown) => thrown,
    );

    const { message } = refusalIn(error);
    expect(message).toContain(`${asked} was answered in a shape that is not Salesforce's (wrong: ${places}`);
    expect(message).not.toContain("secret");
  },
);

test("a save by SOAP that is answered without its results is in doubt", async () => {
  const error = await salesforce.write("update", "Contact", [RECORD], null).then(
    () => null,
    (thrown: unknown) => thrown,
  );

  expect(refusalIn(error).message).toContain("update of 1 Contact records was answered with 0 results");
});
